package step_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// n passes through p equal stages with free hand-offs take n + p - 1 forwards.
func TestEvaluationFillsThePipeline(t *testing.T) {
	for _, p := range []int{1, 2, 4} {
		for _, n := range []int{1, 3, 8} {
			t.Run(fmt.Sprintf("p%d/n%d", p, n), func(t *testing.T) {
				c := jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: p, DP: 1}, "1f1b", 4))
				c.Evaluation.Batches = n
				res := run(t, c, step.Options{})
				var forward sim.Time
				for s := range res.Recording.Spans {
					if s.Kind == trace.Forward && res.Recording.Lanes[s.Lane].Stream == trace.Actions {
						forward = s.End - s.Start
					}
				}
				require.Len(t, res.Evaluations, 1)
				e := res.Evaluations[0]
				assert.Equal(t, res.StepTime, e.Start)
				assert.InEpsilon(t, float64(sim.Time(n+p-1)*forward), float64(e.Time), 0.01)
			})
		}
	}
}

// The evaluation changes nothing about the step before it.
func TestEvaluationIsNotInTheStep(t *testing.T) {
	for _, kind := range []string{"1f1b", "interleaved", "zb-v", "dualpipev", "gpipe"} {
		c := jobtest.Small(t, job.Parallel{TP: 2, PP: 2, DP: 2, ZeRO: 1}, kind, 8)
		c.Schedule.VirtualStages = 1
		if kind == "interleaved" || kind == "zb-v" || kind == "dualpipev" {
			c.Schedule.VirtualStages = 2
		}
		before := run(t, c, step.Options{})
		c.Evaluation.Batches = 5
		after := run(t, c, step.Options{})
		assert.Equal(t, before.StepTime, after.StepTime, kind)
		assert.Equal(t, before.Stages, after.Stages, kind)
		assert.Equal(t, before.Comms, after.Comms, kind)
		require.Len(t, after.Evaluations, 1, kind)
		assert.Positive(t, after.Evaluations[0].Time)
		folded := run(t, c, step.Options{Fold: true})
		assert.Equal(t, after.Evaluations, folded.Evaluations, kind)
		checkLanes(t, after.Recording)
	}
}

// FSDP's evaluation gathers the changed weights, in a pipeline once: it moves
// more than an evaluation of unsharded weights.
func TestEvaluationGathersShards(t *testing.T) {
	for _, pp := range []int{1, 2} {
		gathers := func(zero int) (n int) {
			c := jobtest.Small(t, job.Parallel{TP: 1, PP: pp, DP: 4, ZeRO: zero}, "1f1b", 2)
			c.Evaluation.Batches = 3
			res := run(t, c, step.Options{})
			for s := range res.Recording.Spans {
				if s.Start >= res.Evaluations[0].Start && s.Kind == trace.DP.Kind() {
					n++
				}
			}
			return n
		}
		assert.Zero(t, gathers(1))
		assert.Positive(t, gathers(3), "pp = %d", pp)
	}
}

// Twice the sequences take about twice the time where kernels fill the GPU.
func TestEvaluationOfLargerBatches(t *testing.T) {
	c := jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 1}, "1f1b", 1))
	seconds := func(batch int) float64 {
		c.Evaluation = job.Evaluation{Batches: 2, BatchSize: batch}
		return run(t, c, step.Options{}).Evaluations[0].Time.Seconds()
	}
	assert.InEpsilon(t, 2*seconds(16), seconds(32), 0.1)
}

// A list of nothing but the model's length is the run of fixed length, several
// times.
func TestOneLengthIsTheFixedLength(t *testing.T) {
	for _, kind := range []string{"1f1b", "zb-h1", "zb-h2", "dualpipev", "pipedream-2bw"} {
		c := jobtest.Small(t, job.Parallel{TP: 2, PP: 2, DP: 2, ZeRO: 1}, kind, 4)
		c.Schedule.NoBarrier = kind == "zb-h2"
		c.Schedule.VirtualStages = 1
		if kind == "dualpipev" {
			c.Schedule.VirtualStages = 2
		}
		fixed := run(t, c, step.Options{})
		c.Data = job.Data{Lengths: "list", LengthList: []int{int(c.Model.SeqLen)}, Steps: 4}
		res := run(t, c, step.Options{})
		require.Len(t, res.Steps, 4)
		assert.Equal(t, fixed.StepTime, res.StepTime, kind)
		assert.Equal(t, fixed.Stages, res.Stages, kind)
		assert.Equal(t, fixed.Comms, res.Comms, kind)
		assert.Equal(t, len(fixed.Links), len(res.Links))
		for i := range fixed.Links {
			assert.InEpsilon(t, fixed.Links[i].Bytes, res.Links[i].Bytes, 1e-9)
		}
		assert.Equal(t, fixed.Memory[0].PeakAllocated, res.Memory[0].PeakAllocated)
	}
}

// Shorter sequences are faster; the step waits for the replica with the longest.
func TestLengthsTakeTheirTime(t *testing.T) {
	var last sim.Time
	for _, dp := range []int{1, 2, 8} {
		c := jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: dp}, "1f1b", 8)
		fixed := run(t, c, step.Options{}).StepTime
		c.Data = job.Data{Lengths: "uniform", MinLength: 64, Steps: 5}
		res := run(t, c, step.Options{})
		assert.Less(t, res.StepTime, fixed)
		assert.Greater(t, res.StepTime, last, "dp = %d", dp)
		last = res.StepTime
		folded := run(t, c, step.Options{Fold: true})
		assert.Equal(t, res.StepTime, folded.StepTime)
		assert.Equal(t, res.Steps, folded.Steps)
		var sum, least, most sim.Time
		for i, w := range res.Steps[1:] {
			if i == 0 {
				least = w.Time
			}
			sum, least, most = sum+w.Time, min(least, w.Time), max(most, w.Time)
		}
		assert.Equal(t, sum/4, res.StepTime)
		assert.Less(t, least, most)
		for _, s := range res.Stages {
			assert.Equal(t, res.StepTime, booked(s))
		}
		checkLanes(t, res.Recording)
		w := res.Job.Work()
		assert.Less(t, w.Tokens, w.Computed+1)
		assert.Less(t, w.Computed, float64(c.Tokens()))
	}
}

// The same holds of every layout with lengths and evaluations as without: books
// close, streams do not overlap, memory stays within what is reserved, and
// folding changes nothing.
func TestPhasesOfRandomJobs(t *testing.T) {
	for seed := range jobtest.Cases(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := sim.NewRand(seed, "phases")
			c := jobtest.Symmetric(t, r)
			if r.IntN(3) > 0 {
				c.Data = job.Data{Lengths: "uniform", MinLength: 64, Steps: 2 + r.IntN(3)}
				c.Schedule.MicrobatchSize = 1 + r.IntN(2)
			}
			c.Evaluation = job.Evaluation{Batches: r.IntN(6), BatchSize: r.IntN(4), KeepActivations: r.IntN(2) == 0}
			res, one := run(t, c, step.RecordAll(seed%3 == 0)), run(t, c, step.Options{Fold: true})
			for s, b := range res.Stages {
				assert.Equal(t, res.StepTime, booked(b), "stage %d", s)
			}
			checkLanes(t, res.Recording)
			for i := range res.Memory {
				assert.LessOrEqual(t, res.Memory[i].PeakAllocated, res.Memory[i].PeakReserved)
			}
			for _, l := range res.Links {
				assert.LessOrEqual(t, l.Utilisation, 1+1e-9, l.Name)
			}
			near := func(a, b sim.Time) {
				assert.InDelta(t, float64(a), float64(b), 100+1e-6*float64(a))
			}
			near(res.StepTime, one.StepTime)
			require.Equal(t, len(res.Evaluations), len(one.Evaluations))
			for i := range res.Evaluations {
				near(res.Evaluations[i].Time, one.Evaluations[i].Time)
			}
			for i := 1; i < len(res.Steps); i++ {
				assert.GreaterOrEqual(t, res.Steps[i].Start, res.Steps[i-1].End)
			}
		})
	}
}
