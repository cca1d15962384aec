package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/trace"
)

// brokenRun returns a run that keeps the invariants, for one to be broken.
func brokenRun(spoil func(*Run)) error {
	rec := &trace.Recording{}
	lane := rec.AddLane(trace.Lane{Stream: trace.Compute})
	name := rec.Name("gemm")
	rec.Add(trace.Span{Start: 0, End: 5, Lane: lane, Name: name})
	rec.Add(trace.Span{Start: 5, End: 9, Lane: lane, Name: name})
	link := rec.AddCounter(trace.Counter{Kind: trace.LinkRate, Name: "nic", Rank: -1, Limit: 100})
	rec.Set(2, link, 100)
	run := &Run{Recording: rec, Report: &Report{
		TimePerStage: []StageTime{{Compute: 1, Comm: [trace.NumDimensions]float64{trace.TP: 0.5}, Bubble: 0.5, ExposedComm: 0.5, Step: 2}},
		Bubble:       Bubble{Seconds: 0.5, Causes: Causes{Warmup: 0.2, Cooldown: 0.3}},
	}}
	spoil(run)
	return run.Check()
}

func TestCheckFindsBrokenInvariants(t *testing.T) {
	require.NoError(t, brokenRun(func(*Run) {}))
	for want, spoil := range map[string]func(*Run){
		`"gemm" starts at 4ps, before 5ps`:    func(r *Run) { r.Recording.Add(trace.Span{Start: 4, End: 6}) },
		`span "gemm" from 7ps to 6ps`:         func(r *Run) { r.Recording.Add(trace.Span{Start: 7, End: 6}) },
		"goes back from 2ps to 1ps":           func(r *Run) { r.Recording.Set(1, 0, 5) },
		"counter nic of rank -1 is -5 at 3ps": func(r *Run) { r.Recording.Set(3, 0, -5) },
		"is 200 at 3ps, above its limit 100":  func(r *Run) { r.Recording.Set(3, 0, 200) },
		"the seconds of stage 0 add up to 3":  func(r *Run) { r.Report.TimePerStage[0].Compute++ },
		"the communication of stage 0":        func(r *Run) { r.Report.TimePerStage[0].ExposedComm++ },
		"the causes of the bubble add up":     func(r *Run) { r.Report.Bubble.Causes.Straggler++ },
	} {
		assert.ErrorContains(t, brokenRun(spoil), want)
	}
}
