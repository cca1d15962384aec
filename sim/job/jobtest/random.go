package jobtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"trainsim/interconnect"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// Random draws a layout that is valid.
func Random(t testing.TB, r *rand.Rand) *job.Config {
	pick := func(xs ...int) int { return xs[r.IntN(len(xs))] }
	p := job.Parallel{TP: pick(1, 2, 4), PP: pick(1, 2, 4), DP: pick(1, 2, 4), CP: pick(1, 1, 2)}
	p.SequenceParallel = p.TP > 1 && pick(0, 1) == 1
	p.ZeRO = pick(0, 1)
	p.OverlapGradReduce, p.OverlapParamGather = pick(0, 1) == 1, pick(0, 1) == 1
	kinds := []string{"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "looped-bfs"}
	c := Small(t, p, kinds[r.IntN(len(kinds))], 4*pick(1, 2, 3))
	if c.Schedule.Kind == "interleaved" || c.Schedule.Kind == "looped-bfs" || c.Schedule.Kind == "zb-v" {
		c.Schedule.VirtualStages = 2
	}
	if p.PP == 1 && c.Schedule.Kind != "gpipe" {
		c.Schedule.Kind, c.Schedule.VirtualStages = "1f1b", 1
	}
	c.Schedule.BlockingP2P = c.Schedule.Kind == "1f1b" && pick(0, 1) == 1
	c.Training.Recompute = []string{"none", "selective", "full"}[r.IntN(3)]
	c.Training.Dropout = pick(0, 1) == 1
	SetFramework(t, c, []string{"none", "megatron", "eager"}[r.IntN(3)])
	return c
}

// Symmetric draws a layout and a cluster that is more or less symmetric: cards
// shared by GPUs, PCIe trees, slow links and slow GPUs.
func Symmetric(t testing.TB, r *rand.Rand) *job.Config {
	c := Random(t, r)
	switch r.IntN(4) {
	case 0:
		c.Cluster.NICs, c.Cluster.NICAffinity = 4, interconnect.Shared
	case 1:
		c.Cluster.Kind, c.Cluster.NVLinks, c.Cluster.PCIeGen, c.Cluster.GPUsPerSwitch = interconnect.PCIe, 0, 4, 2
	}
	c.NCCL.Model = []string{"nccl", "ideal"}[r.IntN(2)]
	if r.IntN(3) == 0 {
		c.Faults.GPUs = []string{fmt.Sprintf("%d=0.7", r.IntN(c.Parallel.World()))}
	}
	if r.IntN(3) == 0 && c.Cluster.Nodes > 1 {
		c.Faults.Links = []string{fmt.Sprintf("node%d/nic0/=0.5@1ms", r.IntN(c.Cluster.Nodes))}
	}
	return c
}

// Mixture makes a job's model one of experts, with latent attention every other
// time, spread over as many ranks of a stage as may be.
func Mixture(c *job.Config, r *rand.Rand) *job.Config {
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

// Cases is how many of n random jobs a test runs: a sixth under -short, as with
// the race detector.
func Cases(n uint64) uint64 {
	if testing.Short() {
		return n / 6
	}
	return n
}
