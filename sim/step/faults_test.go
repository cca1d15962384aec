package step_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

func TestSlowGPUSlowsTheStepAndIsToldApart(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, "1f1b", 8)
	healthy := run(t, c, step.Options{})
	c.Faults.GPUs = []string{"2=0.5"}
	res := run(t, c, step.Options{})
	assert.Equal(t, healthy.StepTime, res.HealthyStep)
	assert.Equal(t, healthy.Stages, res.Healthy)
	assert.Greater(t, res.StepTime, healthy.StepTime)
	assert.InDelta(t, 2, float64(res.Stages[2].Compute)/float64(healthy.Stages[2].Compute), 1e-6)
	assert.Equal(t, healthy.Stages[1].Compute, res.Stages[1].Compute)
}

func TestSlowLinkSlowsOnlyWhatCrossesIt(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 8, PP: 2, DP: 1, SequenceParallel: true}, "1f1b", 8)
	healthy := run(t, c, step.Options{})
	c.Faults.Links = []string{"node1/gpu3/nvlink/=0.1"}
	res := run(t, c, step.Options{})
	assert.Greater(t, res.Stages[1].Comm[trace.TP], 2*healthy.Stages[1].Comm[trace.TP])
	assert.Equal(t, healthy.Stages[0].Comm[trace.TP], res.Stages[0].Comm[trace.TP])
	assert.Greater(t, res.StepTime, healthy.StepTime)
}

func TestFaultsFromATimeOn(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: 1}, "1f1b", 8)
	healthy := run(t, c, step.Options{})
	c.Faults.GPUs = []string{"0=0.5@1000s"}
	assert.Equal(t, healthy.StepTime, run(t, c, step.Options{}).StepTime)
}

func TestJitterIsSeeded(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 2, PP: 2, DP: 2}, "1f1b", 8)
	c.Faults.Jitter = 0.05
	a, b := run(t, c, step.Options{}), run(t, c, step.Options{})
	assert.Equal(t, a.StepTime, b.StepTime)
	assert.Greater(t, a.StepTime, a.HealthyStep, "the slowest of many ranks decides")
	c.Seed++
	assert.NotEqual(t, a.StepTime, run(t, c, step.Options{}).StepTime)
}

func TestBadFaults(t *testing.T) {
	for _, f := range []job.Faults{
		{Links: []string{"node0"}}, {Links: []string{"x=2"}}, {Links: []string{"x=0.5@3"}},
		{GPUs: []string{"9=0.5"}}, {GPUs: []string{"0=1e-12"}}, {GPUs: []string{"a=0.5"}}, {Jitter: -1},
	} {
		assert.Error(t, f.Validate(4), "%+v", f)
	}
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: 1}, "1f1b", 2)
	c.Faults.Links = []string{"node0/gpu0/nvlink/sideways=0.5"}
	_, err := step.Run(context.Background(), c, step.Options{})
	require.ErrorContains(t, err, "node0/gpu0/nvlink/")
}

// Without the optimizer's barrier ZB-H2 has no bubble but the start's skew,
// which no step pays (Qi et al. 2023, arXiv 2401.10241): its span is shorter
// than 1F1B's by what the barrier costs.
func TestNoBarrier(t *testing.T) {
	span := func(kind string, free bool) sim.Time {
		c := jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, kind, 12))
		c.Schedule.NoBarrier = free
		res := run(t, c, step.Options{})
		for s, b := range res.Stages {
			sum := booked(b)
			assert.Equal(t, res.StepTime, sum, "stage %d", s)
		}
		return res.StepTime
	}
	assert.Less(t, span("zb-h2", true), span("zb-h2", false))
	assert.Less(t, span("zb-h2", true), span("1f1b", true))
}
