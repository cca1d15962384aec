package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Scored is one measurement beside its prediction. Errors are fractions,
// (predicted - measured) / measured; a pointer is nil where there is nothing to
// compare.
type Scored struct {
	ID               string   `json:"id"`
	Family           string   `json:"family"`
	Quality          string   `json:"quality"`
	Measured         *float64 `json:"measured_s"`
	Predicted        *float64 `json:"predicted_s"`
	TimeError        *float64 `json:"time_error"`
	MeasuredBytes    *int64   `json:"measured_bytes"`
	PredictedBytes   *int64   `json:"predicted_bytes"`
	MemoryError      *float64 `json:"memory_error"`
	MemoryMetric     string   `json:"mem_metric"`
	OutcomeMeasured  string   `json:"outcome_measured"`
	OutcomePredicted string   `json:"outcome_predicted"`
	// Skipped says why there is no prediction; empty where there is one.
	Skipped string `json:"skipped"`
}

// Outcomes of a run.
const (
	OutcomeOK  = "ok"
	OutcomeOOM = "oom" // it ran out of memory
)

// compare fills the errors from the figures. What was measured and not
// predicted counts as missed by all of it: -100 %.
func (s *Scored) compare() {
	s.TimeError, s.MemoryError = nil, nil
	if s.Measured != nil && *s.Measured > 0 {
		s.TimeError = missed(*s.Measured, s.Predicted)
	}
	if s.MeasuredBytes != nil && *s.MeasuredBytes > 0 {
		var p *float64
		if s.PredictedBytes != nil {
			x := float64(*s.PredictedBytes)
			p = &x
		}
		s.MemoryError = missed(float64(*s.MeasuredBytes), p)
	}
}

func missed(measured float64, predicted *float64) *float64 {
	e := -1.0
	if predicted != nil {
		e = (*predicted - measured) / measured
	}
	return &e
}

// Family summarises the rows of a family. MAPE is the mean absolute error,
// Bias the mean with its sign; Median, P90 and Worst are of the absolute
// errors.
type Family struct {
	Family       string  `json:"family"`
	N            int     `json:"n"`
	MAPE         float64 `json:"mape"`
	Bias         float64 `json:"bias"`
	Median       float64 `json:"median"`
	P90          float64 `json:"p90"`
	Worst        float64 `json:"worst"`
	MemoryN      int     `json:"memory_n"`
	MemoryMAPE   float64 `json:"memory_mape"`
	MemoryWorst  float64 `json:"memory_worst"`
	OutcomeRight int     `json:"outcome_right"`
	OutcomeN     int     `json:"outcome_n"`
	Skipped      int     `json:"skipped"`
}

// Score is how well predictions match measurements.
type Score struct {
	Rows     []Scored `json:"rows"`
	Families []Family `json:"families"`
	// Doubts name families whose measurements fit other columns than theirs.
	Doubts []string `json:"doubts,omitempty"`
}

// NewScore compares the rows and sums them up by family, in the order in which
// the families appear.
func NewScore(rows []Scored) *Score {
	s := &Score{Rows: rows}
	of := map[string][]*Scored{}
	var order []string
	for i := range rows {
		r := &rows[i]
		r.compare()
		if _, known := of[r.Family]; !known {
			order = append(order, r.Family)
		}
		of[r.Family] = append(of[r.Family], r)
	}
	for _, name := range order {
		s.Families = append(s.Families, newFamily(name, of[name]))
	}
	return s
}

// Predicted returns how many rows there is a prediction for: the others are
// skipped.
func (s *Score) Predicted() int { return len(s.Rows) - s.Total().Skipped }

// Total sums up all rows as one family.
func (s *Score) Total() Family {
	all := make([]*Scored, len(s.Rows))
	for i := range s.Rows {
		all[i] = &s.Rows[i]
	}
	return newFamily("all", all)
}

func newFamily(name string, rows []*Scored) Family {
	f := Family{Family: name}
	var times, sizes []float64
	for _, r := range rows {
		if r.TimeError != nil {
			times = append(times, *r.TimeError)
		}
		if r.MemoryError != nil {
			sizes = append(sizes, math.Abs(*r.MemoryError))
		}
		if r.OutcomeMeasured != "" {
			f.OutcomeN++
			if r.OutcomeMeasured == r.OutcomePredicted {
				f.OutcomeRight++
			}
		}
		if r.Skipped != "" {
			f.Skipped++
		}
	}
	if f.MemoryN = len(sizes); f.MemoryN > 0 {
		f.MemoryMAPE, f.MemoryWorst = stat.Mean(sizes, nil), slices.Max(sizes)
	}
	f.times(times)
	return f
}

// times fills the statistics of the time errors.
func (f *Family) times(errors []float64) {
	f.N = len(errors)
	if f.N == 0 {
		return
	}
	f.Bias = stat.Mean(errors, nil)
	for i, e := range errors {
		errors[i] = math.Abs(e)
	}
	slices.Sort(errors)
	f.MAPE, f.Worst = stat.Mean(errors, nil), errors[f.N-1]
	f.Median = (errors[(f.N-1)/2] + errors[f.N/2]) / 2
	f.P90 = stat.Quantile(0.9, stat.Empirical, errors, nil)
}
