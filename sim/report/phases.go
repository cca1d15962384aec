package report

import (
	"trainsim/sim/step"
)

// Steps are the steps of a run whose sequences differ in length. The first
// warms up and is not in Count, Mean, Min and Max.
type Steps struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean_s"`
	Min   float64 `json:"min_s"`
	Max   float64 `json:"max_s"`
	Each  []Span  `json:"each"`
}

// Evaluation is what runs behind each step: passes of forwards without
// backwards. It is no part of the step.
type Evaluation struct {
	Batches   int     `json:"batches"`
	BatchSize int     `json:"batch_size"` // sequences a pass and replica
	Seconds   float64 `json:"seconds"`    // a mean, the first left out where there are several
	Each      []Span  `json:"each"`
}

// Span is a stretch of the recording, seconds.
type Span struct {
	Start   float64 `json:"start_s"`
	Seconds float64 `json:"seconds"`
}

// spansOf turns windows into spans.
func spansOf(windows []step.Window) []Span {
	out := make([]Span, len(windows))
	for i, w := range windows {
		out[i] = Span{Start: w.Start.Seconds(), Seconds: w.Time.Seconds()}
	}
	return out
}

// steady leaves the first of several spans out: it warms up.
func steady(spans []Span) []Span {
	if len(spans) > 1 {
		return spans[1:]
	}
	return spans
}

// phases fills what a run has beside one step.
func (r *Report) phases(res *step.Result) {
	c := res.Job.Config
	if w := res.Job.Work(); w.Tokens < w.Computed {
		r.Padding = 1 - w.Tokens/w.Computed
	}
	if len(res.Steps) > 0 {
		s := &Steps{Each: spansOf(res.Steps)}
		s.Mean = r.StepTime
		for i, x := range steady(s.Each) {
			if i == 0 {
				s.Min = x.Seconds
			}
			s.Count++
			s.Min, s.Max = min(s.Min, x.Seconds), max(s.Max, x.Seconds)
		}
		r.Steps = s
	}
	if len(res.Evaluations) > 0 {
		e := &Evaluation{Batches: c.Evaluation.Batches, BatchSize: c.EvaluationBatch(), Each: spansOf(res.Evaluations)}
		counted := steady(e.Each)
		for _, x := range counted {
			e.Seconds += float64(x.Seconds / float64(len(counted)))
		}
		r.Evaluation = e
	}
}
