package timeline

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
	same, which := OneStep(r, rep)
	assert.Equal(t, r, same)
	assert.Empty(t, which)
	assert.Equal(t, 30*sim.Millisecond, Makespan(WithoutEvaluation(r, rep)))
	r, rep = evaluated(3)
	one, which := OneStep(r, rep)
	assert.Equal(t, "step 2 of 3", which)
	assert.Equal(t, 3, one.Len())
	assert.Equal(t, 30*sim.Millisecond, Makespan(one))
	assert.Equal(t, -1, typicalStep(nil))
}

// step is a rank's step of actions, a second each, with a pause before the last.
func step(kinds ...trace.Kind) *trace.Recording {
	r := &trace.Recording{}
	lane := r.AddLane(trace.Lane{Stream: trace.Actions})
	for i, k := range kinds {
		at := sim.Time(i) * sim.Second
		if k == trace.Optimizer {
			at += sim.Second / 2
		}
		r.Add(trace.Span{Start: at, End: at + sim.Second, Lane: lane, Kind: k})
	}
	return r
}

func TestPhases(t *testing.T) {
	const f, b = trace.Forward, trace.Backward
	r := step(f, f, b, f, b, b, trace.Optimizer)
	var names []string
	var at float64
	for _, ph := range phasesOf(r, 0) {
		assert.Equal(t, at, ph.Start)
		at = ph.End
		names = append(names, ph.Name)
	}
	assert.Equal(t, []string{"warm-up", "steady state", "cool-down", "optimizer"}, names)
	assert.Equal(t, Makespan(r).Seconds(), at)
	assert.Equal(t, "forward", phasesOf(step(f, b, trace.Optimizer), 0)[0].Name)
	assert.Empty(t, phasesOf(r, 99))
}

func TestPhasesOfARun(t *testing.T) {
	names := func(n int) (out []string) {
		r, rep := evaluated(n)
		for _, ph := range Phases(r, rep, 0) {
			require.Less(t, ph.Start, ph.End)
			out = append(out, ph.Name)
		}
		return out
	}
	assert.Equal(t, []string{"forward", "backward", "optimizer", "evaluation"}, names(1))
	assert.Equal(t, []string{"step 1", "evaluation", "step 2", "evaluation"}, names(2))
}
