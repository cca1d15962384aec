package step_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// fsdp is the small model, sharded over eight GPUs.
func fsdp(t *testing.T, prefetch string) *job.Config {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8, ZeRO: 3, BackwardPrefetch: prefetch}, "1f1b", 2)
	jobtest.SetFramework(t, c, "eager")
	return c
}

// TestLatePrefetch: gathers after the scatters are exposed, as much as they
// take and no more.
func TestLatePrefetch(t *testing.T) {
	pre, post := run(t, fsdp(t, "pre"), step.Options{}), run(t, fsdp(t, "post"), step.Options{})
	assert.Greater(t, post.StepTime, pre.StepTime)
	assert.Greater(t, post.Stages[0].Comm[trace.DP], pre.Stages[0].Comm[trace.DP])
	assert.Equal(t, moved(pre), moved(post), "the same collectives")
}

// moved sums the bytes of all collectives.
func moved(r *step.Result) (sum float64) {
	for _, c := range r.Comms {
		sum += float64(c.Bytes)
	}
	return sum
}

// TestFirstFlashAttention: the old kernels cost time and nothing else.
func TestFirstFlashAttention(t *testing.T) {
	c := fsdp(t, "pre")
	now := run(t, c, step.Options{})
	c.Model.Attention = model.Flash1
	then := run(t, c, step.Options{})
	assert.Greater(t, then.StepTime, now.StepTime)
	assert.Equal(t, now.Memory[0].PeakAllocated, then.Memory[0].PeakAllocated)
}
