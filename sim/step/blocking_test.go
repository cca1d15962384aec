package step_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// TestLaunchBlocking: without run-ahead every operator shows its launch.
func TestLaunchBlocking(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 2, PP: 1, DP: 1}, "1f1b", 2)
	jobtest.SetFramework(t, c, "cuda-graphs") // next to nothing on the host itself
	free := run(t, c, step.Options{})
	c.Host.LaunchBlocking = true
	blocked := run(t, c, step.Options{})
	assert.Greater(t, blocked.StepTime, 2*free.StepTime)
	assert.Greater(t, blocked.Stages[0].Host, 8*sim.Millisecond)
	assert.GreaterOrEqual(t, blocked.Stages[0].Comm[trace.TP], free.Stages[0].Comm[trace.TP], "nothing overlaps")
}

// TestHandOver: a blocking collective costs the GPU two changes of stream.
func TestHandOver(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 8, PP: 1, DP: 1}, "1f1b", 1)
	c.NCCL.Model = "free"
	jobtest.SetFramework(t, c, "none")
	without := run(t, c, step.Options{})
	jobtest.SetFramework(t, c, "eager")
	with := run(t, c, step.Options{})
	assert.Zero(t, without.Stages[0].Comm[trace.TP])
	assert.Greater(t, with.Stages[0].Comm[trace.TP], 16*12*sim.Microsecond, "two a layer in the forward alone")
}

// TestAmaxGroup: all ranks of a stage share FP8's scales.
func TestAmaxGroup(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 2, PP: 2, DP: 2}, "1f1b", 2)
	c.Training.Precision = "fp8"
	res := run(t, c, step.Options{})
	n := int64(0)
	for _, total := range res.Comms {
		if total.Group == "amax" {
			n += total.Count
		}
	}
	assert.EqualValues(t, 4, n, "two micro-batches, forward and backward")
	assert.Positive(t, res.Stages[0].Comm[trace.DP])
}

// TestAmaxOfOne: a stage of one rank has nobody to share its scales with.
func TestAmaxOfOne(t *testing.T) {
	for kind, chunks := range map[string]int{"1f1b": 1, "dualpipev": 2} {
		c := jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: 1}, "1f1b", 4)
		c.Schedule.Kind, c.Schedule.VirtualStages = kind, chunks
		c.Training.Precision = "fp8"
		for _, total := range run(t, c, step.Options{}).Comms {
			assert.NotEqual(t, "amax", total.Group)
		}
	}
}

// TestArrival: the gap after a layer's collective grows with its ranks.
func TestArrival(t *testing.T) {
	exposed := func(tp int) sim.Time {
		c := jobtest.Small(t, job.Parallel{TP: tp, PP: 1, DP: 1}, "1f1b", 1)
		c.NCCL.Model = "free"
		jobtest.SetFramework(t, c, "eager")
		return run(t, c, step.Options{}).Stages[0].Comm[trace.TP]
	}
	assert.Greater(t, exposed(8), exposed(2))
}
