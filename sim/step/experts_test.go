package step_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
)

// The books close with experts as without, and simulating only the ranks that
// can differ changes nothing.
func TestInvariantsOfMixtures(t *testing.T) {
	folded := 0
	for seed := range jobtest.Cases(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := sim.NewRand(seed, "mixtures")
			c := jobtest.Mixture(jobtest.Symmetric(t, r), r)
			whole := run(t, c, step.Options{})
			for s, b := range whole.Stages {
				sum := booked(b)
				assert.Equal(t, whole.StepTime, sum, "stage %d", s)
			}
			checkLanes(t, whole.Recording)
			checkMemory(t, whole)
			one := run(t, c, step.Options{Fold: true})
			assert.InDelta(t, float64(whole.StepTime), float64(one.StepTime), 2+1e-8*float64(whole.StepTime))
			assert.Equal(t, whole.Memory, one.Memory)
			if one.RanksSimulated < whole.RanksSimulated {
				folded++
			}
		})
	}
	assert.Greater(t, folded, int(jobtest.Cases(60)/3), "a third has something to fold")
}

// A mixture with one expert that every token goes to, on one rank, is the dense
// model: the same products, in a step longer only by routing and permutation.
func TestOneExpertIsTheDenseModel(t *testing.T) {
	dense := jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: 4}, "1f1b", 4)
	dense.Model.LinearBias = false
	mixed := *dense
	mixed.Model.Experts, mixed.Model.ExpertsPerToken, mixed.Model.ExpertCapacity = 1, 1, 1
	mixed.Parallel.ETP = 1
	a, b := run(t, dense, step.Options{}), run(t, &mixed, step.Options{})
	assert.Equal(
		t, dense.Model.Parameters()+dense.Model.Layers*dense.Model.Hidden, mixed.Model.Parameters(),
		"the router's rows aside",
	)
	assert.Greater(t, b.StepTime, a.StepTime)
	assert.Less(t, float64(b.StepTime), 1.35*float64(a.StepTime))
	all := mixed
	all.Model.DenseLayers = all.Model.Layers
	assert.Equal(t, a.StepTime, run(t, &all, step.Options{}).StepTime, "all layers dense")
}

// What the ranks trade: each token's row once for each of its experts, there
// and back, forward and backward, in every layer with experts.
func TestTradedBytes(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8, EP: 8}, "1f1b", 3)
	c.Model.Experts, c.Model.ExpertsPerToken, c.Model.DenseLayers, c.Model.LinearBias = 16, 2, 2, false
	res := run(t, c, step.Options{})
	const tokens, hidden, top, layers, microbatches = 1024, 1024, 2, 6, 3
	var traded int64
	for _, total := range res.Comms {
		if total.Group == "ep" {
			traded += total.Bytes
		}
	}
	rows := int64(tokens * top * hidden * 2)
	assert.Equal(
		t, layers*microbatches*(4*rows+tokens*top*4), traded, "four exchanges of rows and one of their weights",
	)
}
