package scenarios

import (
	"math/bits"

	"trainsim/schedule"
	"trainsim/sim/model"
	"trainsim/sim/step"
)

// complete fills in the values that follow from others where the scenario does
// not give them.
func (l *loader) complete(cfg *step.Config) {
	completeModel(&cfg.Model)
	cfg.Cluster.ComputeCapability = first(cfg.Cluster.ComputeCapability, cfg.GPU.ComputeCapability)
	if cfg.Schedule.VirtualStages == 0 {
		cfg.Schedule.VirtualStages = 1
		if k, err := schedule.Find(cfg.Schedule.Kind); err == nil {
			cfg.Schedule.VirtualStages = k.Chunks()
		}
	}
	p := &cfg.Parallel
	if p.ETP == 0 {
		p.ETP = p.TP
	}
	if l.root.find("parallel.dp") == nil && !l.dec.isBad("parallel.dp") {
		p.DP = 1
		if gpus, ok := product(worldGPUs(cfg)...); ok {
			if shard, ok := product(p.TP, p.PP, p.CP); ok && shard > 0 && gpus%shard == 0 {
				p.DP = max(gpus/shard, 1)
			}
		}
	}
}

func completeModel(m *model.Config) {
	if m.Name == "" {
		m.Name = "custom"
	}
	if m.KVHeads == 0 {
		m.KVHeads = m.Heads
	}
	if m.HeadDim == 0 && m.Heads > 0 && m.Hidden%m.Heads == 0 {
		m.HeadDim = m.Hidden / m.Heads
	}
	if m.FFN == 0 && !m.MLP.Gated() {
		m.FFN = 4 * m.Hidden
	}
	if m.MaxPositions == 0 && m.Position == model.Learned {
		m.MaxPositions = m.SeqLen
	}
	if m.Experts > 0 && m.ExpertFFN == 0 {
		m.ExpertFFN = m.FFN
	}
	if m.KVLoraRank > 0 && m.VHeadDim == 0 {
		m.VHeadDim = m.HeadDim
	}
	if m.EmbeddingWidth == 0 {
		m.EmbeddingWidth = m.Hidden
	}
}

// worldGPUs returns the factors of the number of GPUs: nodes, and GPUs of a node.
func worldGPUs(cfg *step.Config) []int {
	c := &cfg.Cluster
	per := c.GPUsPerNode
	if c.Topology != nil {
		per = c.Topology.GPUs()
	}
	if n := len(c.VisibleDevices); n > 0 {
		per = n
	}
	return []int{max(c.Nodes, 1), per}
}

// product multiplies counts; ok is false when the result does not fit.
func product(counts ...int) (n int, ok bool) {
	n = 1
	for _, c := range counts {
		if c < 0 {
			return 0, false
		}
		hi, lo := bits.Mul64(uint64(n), uint64(c))
		if hi != 0 || lo > maxCount {
			return 0, false
		}
		n = int(lo)
	}
	return n, true
}
