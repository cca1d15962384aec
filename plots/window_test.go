package plots

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// evaluated is a step of 30 ms with an evaluation of 10 ms behind it, n times.
func evaluated(n int) (*trace.Recording, *report.Report) {
	r := &trace.Recording{}
	lane := r.AddLane(trace.Lane{Stream: trace.Actions})
	rep := &report.Report{StepTime: 0.03, Evaluation: &report.Evaluation{Batches: 1, Seconds: 0.01}}
	if n > 1 {
		rep.Steps = &report.Steps{Count: n - 1, Mean: 0.03, Min: 0.03, Max: 0.03}
	}
	add := func(kind trace.Kind, from, to int) {
		r.Add(trace.Span{Start: sim.Time(from) * sim.Millisecond, End: sim.Time(to) * sim.Millisecond, Lane: lane, Kind: kind})
	}
	for i := range n {
		at := 40 * i
		add(trace.Forward, at, at+10)
		add(trace.Backward, at+10, at+28)
		add(trace.Optimizer, at+28, at+30)
		add(trace.Evaluation, at+30, at+40)
		s := float64(at) / 1000
		rep.Evaluation.Each = append(rep.Evaluation.Each, report.Span{Start: s + 0.03, Seconds: 0.01})
		if rep.Steps != nil {
			rep.Steps.Each = append(rep.Steps.Each, report.Span{Start: s, Seconds: 0.03})
		}
	}
	return r, rep
}

func TestFiguresOfOneStep(t *testing.T) {
	r, rep := evaluated(1)
	same, which := oneStep(r, rep)
	assert.Equal(t, r, same)
	assert.Empty(t, which)
	assert.Equal(t, 30*sim.Millisecond, makespan(withoutEvaluation(r, rep)))
	r, rep = evaluated(3)
	one, which := oneStep(r, rep)
	assert.Equal(t, "step 2 of 3", which)
	assert.Equal(t, 3, one.Len())
	assert.Equal(t, 30*sim.Millisecond, makespan(one))
	assert.Equal(t, -1, typicalStep(nil))
}

func TestPhasesOfARun(t *testing.T) {
	names := func(n int) (out []string) {
		r, rep := evaluated(n)
		for _, ph := range runPhases(rep, phasesOf(r, 0)) {
			require.Less(t, ph.start, ph.end)
			out = append(out, ph.name)
		}
		return out
	}
	assert.Equal(t, []string{"forward", "backward", "optimizer", "evaluation"}, names(1))
	assert.Equal(t, []string{"step 1", "evaluation", "step 2", "evaluation"}, names(2))
}
