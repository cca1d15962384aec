package job_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
)

func TestDataIsChecked(t *testing.T) {
	for _, d := range []job.Data{
		{Lengths: "uniform"}, {Lengths: "uniform", MinLength: 2000}, {Lengths: "list"}, {
			Lengths: "list", LengthList: []int{0},
		}, {Lengths: "zipf"},
	} {
		assert.Error(t, d.Validate(1024), "%+v", d)
	}
	assert.NoError(t, (&job.Data{Lengths: "list", LengthList: []int{5, 1024}}).Validate(1024))
}

// A micro-batch is padded to its longest sequence: with many in one, all are
// nearly as long as the longest that there can be.
func TestMicroBatchesArePadded(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 1}, "1f1b", 4)
	c.Data = job.Data{Lengths: "uniform", MinLength: 64, Steps: 6}
	padding := func(size int) float64 {
		c.Schedule.MicrobatchSize = size
		job, err := job.Build(context.Background(), c, account.Peaks)
		require.NoError(t, err)
		w := job.Work()
		return 1 - w.Tokens/w.Computed
	}
	assert.Less(t, padding(1), 0.02)
	assert.InDelta(t, 1-0.5*float64(17)/16, padding(16), 0.05)
	c.Data.Pad = true
	assert.InDelta(t, 0.5, padding(1), 0.05)
}

func TestTooManyLengthsAreRefused(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8}, "1f1b", 1<<12)
	c.Data = job.Data{Lengths: "uniform", MinLength: 64, Steps: 1000}
	_, err := job.Build(context.Background(), c, account.Peaks)
	assert.ErrorContains(t, err, "data.steps")
}
