package step_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// exposedConfig draws jobs of every kind whose communication is exposed:
// tensor-parallel shards, experts, sequences of different lengths, asynchronous
// schedules and those without a barrier.
func exposedConfig(t *testing.T, r *rand.Rand) *job.Config {
	c := jobtest.Symmetric(t, r)
	switch r.IntN(6) {
	case 0:
		return jobtest.Mixture(c, r)
	case 1:
		c.Data = job.Data{Lengths: "uniform", MinLength: 64, Steps: 2 + r.IntN(3)}
		c.Schedule.MicrobatchSize = 1 + r.IntN(2)
	case 2:
		c = jobtest.Small(t, job.Parallel{TP: 2, PP: 1, DP: 8, ZeRO: 2 + r.IntN(2)}, "1f1b", 2)
		jobtest.SetFramework(t, c, "eager")
		c.Faults.GPUs = []string{fmt.Sprintf("%d=0.7", r.IntN(16))}
	case 3:
		c = jobtest.Small(t, job.Parallel{TP: 2, PP: 4, DP: 2}, []string{"pipedream", "pipedream-2bw"}[r.IntN(2)], 8)
	case 4:
		c.Schedule.NoBarrier = c.Parallel.PP > 1
	}
	return c
}

// What the collectives and hand-offs of a dimension are exposed for, waiting for
// late peers included, is what the stage's books have for the dimension.
func TestExposedTimesAgree(t *testing.T) {
	var all step.Exposed
	for seed := range jobtest.Cases(120) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := exposedConfig(t, sim.NewRand(seed, "exposed"))
			collectives, books, err := step.ExposedOfStages(c, step.Options{Fold: seed%2 == 0})
			require.NoError(t, err)
			for s := range books {
				for d := range trace.NumDimensions {
					assert.Equal(t, books[s][d], collectives[s][d], "%s of stage %d", d, s)
					all[d] += books[s][d]
				}
			}
		})
	}
	for d := range trace.NumDimensions {
		assert.Positive(t, all[d], "%s is never exposed", d)
	}
}
