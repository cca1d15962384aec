package timeline

import (
	"fmt"
	"math"

	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// typicalStep returns the step of a run of several that is closest to their
// mean, leaving out the first, which warms up; -1 where there is one step only.
func typicalStep(rep *report.Report) int {
	if rep == nil || rep.Steps == nil {
		return -1
	}
	best := -1
	for i, s := range rep.Steps.Each {
		if i == 0 && len(rep.Steps.Each) > 1 {
			continue
		}
		if best < 0 || math.Abs(s.Seconds-rep.Steps.Mean) < math.Abs(rep.Steps.Each[best].Seconds-rep.Steps.Mean) {
			best = i
		}
	}
	return best
}

// OneStep returns the spans of a run's typical step, from time 0 on, and says
// which it is; a recording of one step as it is.
func OneStep(r *trace.Recording, rep *report.Report) (*trace.Recording, string) {
	n := typicalStep(rep)
	if n < 0 {
		return r, ""
	}
	s := rep.Steps.Each[n]
	out := &trace.Recording{Lanes: r.Lanes, Names: r.Names}
	for span := range r.Spans {
		in := span.Start.Seconds() >= s.Start-tick && span.End.Seconds() <= s.Start+s.Seconds+tick
		if in && span.Kind != trace.Evaluation {
			out.Add(*span)
		}
	}
	shift(out)
	return out, fmt.Sprintf("step %d of %d", n+1, len(rep.Steps.Each))
}

// WithoutEvaluation is OneStep without the evaluation behind it.
func WithoutEvaluation(r *trace.Recording, rep *report.Report) *trace.Recording {
	r, _ = OneStep(r, rep)
	end := EndOfStep(rep)
	if end == 0 {
		return r
	}
	out := &trace.Recording{Lanes: r.Lanes, Names: r.Names}
	for span := range r.Spans {
		if span.End.Seconds() <= end+tick {
			out.Add(*span)
		}
	}
	return out
}

// tick is more than seconds lose of a picosecond clock.
const tick = 1e-9

// shift moves spans so that the first begins at 0.
func shift(r *trace.Recording) {
	first := Makespan(r)
	for s := range r.Spans {
		first = min(first, s.Start)
	}
	for s := range r.Spans {
		s.Start, s.End = s.Start-first, s.End-first
	}
}

// EndOfStep returns when the step of a recording ends that goes on with an
// evaluation, in seconds; 0 where nothing follows the step.
func EndOfStep(rep *report.Report) float64 {
	if rep == nil || rep.Evaluation == nil || rep.Steps != nil || len(rep.Evaluation.Each) == 0 {
		return 0
	}
	return rep.Evaluation.Each[0].Start
}

// TimeLabel names a time axis.
func TimeLabel(rep *report.Report, unit string) string {
	switch {
	case rep != nil && rep.Steps != nil:
		return "time over the steps (" + unit + ")"
	case EndOfStep(rep) > 0:
		return "time in the step and its evaluation (" + unit + ")"
	}
	return "time in the step (" + unit + ")"
}
