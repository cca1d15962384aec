package step_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
	"trainsim/sim/step"
)

// One pipeline stands for all that run side by side: the same step and memory.
// Where pipelines are not equally fast, what the slower ones delay is booked on
// other stages, so that the step may differ by a trifle.
func TestFoldedRunsMatch(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := randomConfig(t, sim.NewRand(seed, "fold"))
			whole, folded := run(t, c, step.Options{}), run(t, c, step.Options{Fold: true})
			assert.InEpsilon(t, whole.StepTime.Seconds(), folded.StepTime.Seconds(), 1e-3)
			assert.Equal(t, whole.Memory, folded.Memory)
			assert.Equal(t, c.Parallel.PP, folded.RanksSimulated)
			assert.LessOrEqual(t, folded.Events, whole.Events)
			for s, b := range folded.Stages {
				sum := b.Compute + b.Recompute + b.Host + b.TP + b.PP + b.DP + b.CP + b.EP + b.Optimizer + b.Warmup + b.Cooldown + b.Imbalance
				assert.Equal(t, folded.StepTime, sum, "stage %d", s)
			}
		})
	}
}
