package step_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
)

func balanced(t *testing.T, how string) (*job.Job, *step.Result) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, "1f1b", 8)
	c.Model.Layers, c.Model.Vocab = 24, 128000
	c.Schedule.FirstLastLayers = how
	res := run(t, c, step.Options{})
	return res.Job, res
}

func slowest(r *step.Result) (most sim.Time) {
	for _, s := range r.Stages {
		most = max(most, s.Compute)
	}
	return most
}

func fullest(r *step.Result) (most int64) {
	for i := range r.Memory {
		most = max(most, r.Memory[i].PeakAllocated)
	}
	return most
}

// The balanced splits keep all layers, and each is the best at what it is for.
func TestBalancedSplits(t *testing.T) {
	_, even := balanced(t, "even")
	byTime, fast := balanced(t, "auto")
	byMemory, lean := balanced(t, "auto-memory")
	for _, j := range []*job.Job{byTime, byMemory} {
		sum := 0
		for _, n := range j.Layers {
			sum += n
		}
		require.Equal(t, 24, sum)
	}
	assert.Less(t, slowest(fast), slowest(even))
	assert.LessOrEqual(t, slowest(fast), slowest(lean))
	assert.Less(t, fullest(lean), fullest(even))
	assert.LessOrEqual(t, fullest(lean), fullest(fast))
}
