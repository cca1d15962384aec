package scenarios

import (
	"cmp"

	"trainsim/schedule/kinds"
	"trainsim/sim/job"
)

// complete fills in the values that follow from others where the scenario does
// not give them.
func (l *loader) complete(cfg *job.Config) {
	cfg.Model.Complete()
	l.software(cfg)
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
