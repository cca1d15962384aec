package bound_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/bound"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
)

// No simulation takes less time or memory than the two bounds.
func TestBoundsHold(t *testing.T) {
	for seed := range jobtest.Cases(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := sim.NewRand(seed, "mixtures")
			c := jobtest.Mixture(jobtest.Symmetric(t, r), r)
			res, err := step.Run(context.Background(), c, step.Options{NoRecording: true})
			require.NoError(t, err)
			fullest := res.Memory[account.Fullest(res.Memory)]
			j, err := job.Build(context.Background(), c, account.Peaks)
			require.NoError(t, err)
			close, err := bound.Of(context.Background(), j)
			require.NoError(t, err)
			assert.LessOrEqual(t, close.Time, res.StepTime)
			assert.LessOrEqual(t, close.Memory, fullest.NvidiaSMI())
			b := bound.NewBounder(c)
			quick, err := b.Bound(c)
			require.NoError(t, err)
			assert.LessOrEqual(t, quick.Time, res.StepTime)
			assert.LessOrEqual(t, quick.Memory, fullest.NvidiaSMI())
		})
	}
}
