package timeline

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// Phase is a named part of a rank's step, in seconds.
type Phase struct {
	Name       string
	Start, End float64
}

// Phases divides a run of several steps, or one with evaluations, by the report,
// and one step by what the rank does in it.
func Phases(r *trace.Recording, rep *report.Report, rank int) []Phase {
	inStep := phasesOf(r, rank)
	if rep == nil || rep.Steps == nil && rep.Evaluation == nil {
		return inStep
	}
	var out []Phase
	if rep.Steps == nil {
		for _, ph := range inStep {
			if end := EndOfStep(rep); ph.Start < end {
				ph.End = min(ph.End, end)
				out = append(out, ph)
			}
		}
	} else {
		for i, s := range rep.Steps.Each {
			out = append(out, Phase{fmt.Sprintf("step %d", i+1), s.Start, s.Start + s.Seconds})
			if e := rep.Evaluation; e != nil && i < len(e.Each) {
				out = append(out, Phase{"evaluation", e.Each[i].Start, e.Each[i].Start + e.Each[i].Seconds})
			}
		}
		return out
	}
	for _, s := range rep.Evaluation.Each {
		out = append(out, Phase{"evaluation", s.Start, s.Start + s.Seconds})
	}
	return out
}

// phasesOf divides a rank's step as its schedule does: warm-up until the first
// backward, steady state until the last forward, cool-down, optimizer. When no
// forward follows a backward, the parts are forward and backward. The optimizer
// begins after the last of both; spans are recorded in the order of their ends.
func phasesOf(r *trace.Recording, rank int) []Phase {
	b := bounds{firstB: sim.Forever, firstOpt: sim.Forever}
	for s := range r.Spans {
		if int(s.Lane) >= len(r.Lanes) || s.Lane < 0 {
			continue
		}
		if l := r.Lanes[s.Lane]; l.Rank == rank && l.Stream == trace.Actions {
			b.add(s)
		}
	}
	if b.lastF == 0 || b.firstB == sim.Forever {
		return nil
	}
	return b.phases()
}

// bounds are the instants between phases.
type bounds struct{ lastF, firstB, firstOpt, end sim.Time }

func (b *bounds) add(s *trace.Span) {
	switch s.Kind {
	case trace.Forward:
		b.lastF, b.firstOpt = max(b.lastF, s.End), sim.Forever
	case trace.Backward, trace.BackwardInput, trace.BackwardWeight:
		b.firstB, b.firstOpt = min(b.firstB, s.Start), sim.Forever
	case trace.Optimizer:
		b.firstOpt = min(b.firstOpt, s.Start)
	case trace.Evaluation: // behind the step
		return
	}
	b.end = max(b.end, s.End)
}

func (b *bounds) phases() []Phase {
	var out []Phase
	add := func(name string, from, to sim.Time) {
		if to > from {
			out = append(out, Phase{name, from.Seconds(), to.Seconds()})
		}
	}
	optimizer := min(b.firstOpt, b.end)
	if b.lastF <= b.firstB {
		add("forward", 0, b.firstB)
		add("backward", b.firstB, optimizer)
	} else {
		add("warm-up", 0, b.firstB)
		add("steady state", b.firstB, b.lastF)
		add("cool-down", b.lastF, optimizer)
	}
	add("optimizer", optimizer, b.end)
	return out
}
