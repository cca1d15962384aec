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

// Pipelines that cannot differ are simulated once: the same step, the same
// books, the same memory and the same totals of every link.
func TestFoldedRunsMatch(t *testing.T) {
	folded := 0
	for seed := range jobtest.Cases(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := jobtest.Symmetric(t, sim.NewRand(seed, "fold"))
			whole, one := run(t, c, step.Options{}), run(t, c, step.Options{Fold: true})
			assert.InDelta(
				t, float64(whole.StepTime), float64(one.StepTime), 2+1e-8*float64(whole.StepTime),
				"rounding of single transfers aside",
			)
			assert.Equal(t, whole.Memory, one.Memory)
			require.Equal(t, len(whole.Links), len(one.Links))
			for i, l := range whole.Links {
				assert.Equal(t, l.Name, one.Links[i].Name)
				assert.InDelta(t, float64(l.Bytes), float64(one.Links[i].Bytes), 2+1e-9*float64(l.Bytes), l.Name)
			}
			for s, b := range whole.Stages {
				pairs := [][2]sim.Time{{b.Compute, one.Stages[s].Compute}}
				for d := range trace.NumDimensions {
					pairs = append(pairs, [2]sim.Time{b.Comm[d], one.Stages[s].Comm[d]})
				}
				for _, pair := range pairs {
					assert.InDelta(
						t, float64(pair[0]), float64(pair[1]), 100+1e-6*float64(whole.StepTime), "stage %d", s,
					)
				}
			}
			if one.RanksSimulated < whole.RanksSimulated {
				folded++
			}
		})
	}
	assert.Greater(t, folded, int(jobtest.Cases(200)/2), "most random jobs have something to fold")
}

// What breaks the symmetry unfolds what it concerns and no more.
func TestFoldingKeepsApartWhatDiffers(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 2, PP: 2, DP: 8}, "1f1b", 4)
	assert.Equal(t, 2, run(t, c, step.Options{Fold: true}).RanksSimulated)
	c.Faults.GPUs = []string{"3=0.5"}
	slow := run(t, c, step.Options{Fold: true}).RanksSimulated
	assert.Greater(t, slow, 2)
	assert.Less(t, slow, c.Parallel.World())
	c.Faults.GPUs, c.Faults.Jitter = nil, 0.01
	assert.Equal(t, c.Parallel.World(), run(t, c, step.Options{Fold: true}).RanksSimulated)
}
