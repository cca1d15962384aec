package step_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/bound"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
	"trainsim/sim/step"
)

// mixture makes a job's model one of experts, with latent attention every other
// time, spread over as many ranks of a stage as may be.
func mixture(c *job.Config, r *rand.Rand) *job.Config {
	pick := func(xs ...int) int { return xs[r.IntN(len(xs))] }
	m, p := &c.Model, &c.Parallel
	m.Experts, m.ExpertsPerToken, m.ExpertFFN = 8, int64(pick(1, 2)), 2048
	m.SharedExpertFFN, m.DenseLayers = int64(pick(0, 1024)), int64(pick(0, 1, 3))
	m.ExpertCapacity = float64(pick(0, 0, 1))
	m.LinearBias, m.QKVBias, m.MLP = false, false, model.SwiGLU
	if pick(0, 1) == 1 {
		m.HeadDim, m.RopeHeadDim, m.VHeadDim, m.KVLoraRank, m.QLoraRank = 64, 32, 64, 256, int64(pick(0, 384))
	}
	p.SequenceParallel = p.TP > 1
	p.ETP = pick(1, p.TP)
	p.EP = pick(1, 2, 4, 8)
	for p.TP*p.CP*p.DP%(p.ETP*p.EP) != 0 {
		p.EP /= 2
	}
	return c
}

// The books close with experts as without, and simulating only the ranks that
// can differ changes nothing.
func TestInvariantsOfMixtures(t *testing.T) {
	folded := 0
	for seed := range cases(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := sim.NewRand(seed, "mixtures")
			c := mixture(foldConfig(t, r), r)
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
			j, err := job.Build(context.Background(), c, account.Peaks)
			require.NoError(t, err)
			close, err := bound.Of(context.Background(), j)
			require.NoError(t, err)
			assert.LessOrEqual(t, close.Time, whole.StepTime)
			for i := range whole.Memory {
				assert.LessOrEqual(t, close.Memory, maxSMI(whole), "stage %d", i)
			}
			b, err := bound.NewBounder(c)
			require.NoError(t, err)
			quick, err := b.Bound(c)
			require.NoError(t, err)
			assert.LessOrEqual(t, quick.Time, whole.StepTime)
			assert.LessOrEqual(t, quick.Memory, maxSMI(whole))
		})
	}
	assert.Greater(t, folded, int(cases(60)/3), "a third has something to fold")
}

func maxSMI(res *step.Result) int64 {
	var most int64
	for i := range res.Memory {
		most = max(most, res.Memory[i].NvidiaSMI())
	}
	return most
}

// Every rank of a stage is in one group that trades tokens and in one that
// shares experts; two groups of the two kinds have one rank in common.
func TestExpertCoordinates(t *testing.T) {
	for seed := range uint64(200) {
		r := sim.NewRand(seed, "coordinates")
		pick := func(xs ...int) int { return xs[r.IntN(len(xs))] }
		p := job.Parallel{TP: pick(1, 2, 4), CP: pick(1, 2), DP: pick(1, 2, 3, 8), PP: pick(1, 3), EP: pick(1, 2, 4)}
		p.ETP = pick(1, p.TP)
		columns := p.TP * p.CP * p.DP
		if columns%(p.ETP*p.EP) != 0 {
			continue
		}
		seen := map[job.ExpertCoord]bool{}
		for rank := range columns {
			at := p.ExpertCoord(rank)
			require.Equal(t, at, p.ExpertCoord(rank+columns*(p.PP-1)), "every pipeline rank alike")
			require.False(t, seen[at])
			seen[at] = true
			assert.Less(t, at.TP, p.ETP)
			assert.Less(t, at.EP, p.EP)
			if p.ETP == p.TP {
				assert.Equal(t, p.Coord(rank).TP, at.TP, "ranks that cut experts are those that cut the rest")
			}
		}
	}
}

// Spreading the experts over more ranks divides their weights and gradients:
// what a rank saves is their share, to the byte.
func TestExpertParallelismDividesExperts(t *testing.T) {
	weights := func(ep int) (parameters int64, mem account.RankMemory) {
		c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8, EP: ep}, "1f1b", 1)
		c.Model.Experts, c.Model.ExpertsPerToken, c.Model.ExpertFFN, c.Model.LinearBias = 8, 2, 2048, false
		j, err := job.Build(context.Background(), c, account.Peaks)
		require.NoError(t, err)
		return c.Model.Layers * 8 * 2 * 1024 * 2048, accountOf(t, j)
	}
	experts, alone := weights(1)
	for _, ep := range []int{2, 4, 8} {
		_, spread := weights(ep)
		saved := alone.AtPeak[0] - spread.AtPeak[0]
		assert.Equal(t, 2*experts*int64(ep-1)/int64(ep), saved, "weights of 2 bytes, ep %d", ep)
	}
}

func accountOf(t *testing.T, j *job.Job) account.RankMemory {
	t.Helper()
	all, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	return all[0]
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
