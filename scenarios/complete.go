package scenarios

import (
	"cmp"
	"math/bits"

	"trainsim/schedule/kinds"
	"trainsim/sim/job"
)

// complete fills in the values that follow from others where the scenario does
// not give them.
func (l *loader) complete(cfg *job.Config) {
	cfg.Model.Complete()
	cfg.Cluster.ComputeCapability = cmp.Or(cfg.Cluster.ComputeCapability, cfg.GPU.ComputeCapability)
	if cfg.Schedule.VirtualStages == 0 {
		cfg.Schedule.VirtualStages = 1
		if k, err := kinds.Find(cfg.Schedule.Kind); err == nil {
			cfg.Schedule.VirtualStages = k.Chunks
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

// worldGPUs returns the factors of the number of GPUs: nodes, and GPUs of a node.
func worldGPUs(cfg *job.Config) []int {
	return []int{max(cfg.Cluster.Nodes, 1), cfg.Cluster.NodeGPUs()}
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
