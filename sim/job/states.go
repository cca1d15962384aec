package job

import (
	"fmt"

	"trainsim/sim/framework"
	"trainsim/sim/gpu"
)

// GathersOnce reports whether FSDP gathers a stage's parameters once a step, in
// its first forward, and reduces its gradients in its last backward. In a
// pipeline anything else would move the whole stage for every micro-batch:
// torchtitan does not reshard there and synchronises with the last one alone
// (apply_fsdp and _build_pipeline_schedule). In between, gradients add up
// unsharded in the format of the reduction, as FSDP2 keeps them.
func (c *Config) GathersOnce() bool {
	return c.Parallel.ZeRO >= 2 && c.Parallel.PP > 1 && c.Shards() > 1
}

// StateLayout is how a framework lays weights, gradients and optimizer states
// out in memory.
type StateLayout uint8

const (
	// PlainLayout is PyTorch's own: a tensor for each parameter, gradients from
	// the first backward on, in DistributedDataParallel a second copy of them
	// in buckets.
	PlainLayout StateLayout = iota
	// MegatronLayout keeps all gradients of a chunk in one buffer and, with the
	// distributed optimizer, all its parameters in another.
	MegatronLayout
	// DeepspeedLayout is DeepSpeed's ZeRO-1: flat parameters, a flat fp32
	// partition; 16-bit gradients live beside fp32 ones.
	DeepspeedLayout
	// ShardedLayout is FSDP: each unit's parameters, gradients and states are
	// fp32 shards, what is gathered comes and goes.
	ShardedLayout
)

// StateLayout returns how the job's framework lays out states.
func (c *Config) StateLayout() StateLayout {
	switch {
	case c.Parallel.ZeRO >= 2 && c.Shards() > 1:
		return ShardedLayout
	case c.Framework.States == framework.DeepSpeedStates:
		return DeepspeedLayout
	case c.Framework.States == framework.MegatronStates:
		return MegatronLayout
	}
	return PlainLayout
}

// hybrid reports whether a shard spans some of the replicas only, so that others
// hold copies of it (PyTorch's HYBRID_SHARD).
func (c *Config) hybrid() bool {
	g := c.Parallel.FSDPGroup
	return c.Parallel.ZeRO >= 2 && g > 1 && g < c.Parallel.DP
}

// Shards returns over how many ranks ZeRO spreads what it shards, those of
// context parallelism among them.
func (c *Config) Shards() int64 {
	if c.hybrid() {
		return int64(c.Parallel.FSDPGroup * c.Parallel.CP)
	}
	return int64(c.Parallel.DP * c.Parallel.CP)
}

// SplitGrads reports whether gradients in the parameters' format live beside
// those that accumulate in another (DeepSpeed's BF16_Optimizer).
func (j *Job) SplitGrads() bool { return j.DP.GradBytes != j.DP.ParamBytes }

// Optimizer is what an optimizer keeps and moves for each parameter, in bytes.
type Optimizer struct {
	// Master is the fp32 copy of the weights that training in 16 bits keeps.
	Master int64
	// States is all other state: momentum, variance.
	States int64
	// Moments is how many tensors the states of a parameter are.
	Moments int
}

// OptimizerState returns the optimizer's bytes a parameter. States follow the
// optimizers' definitions: Adam two fp32 moments; SGD none, with momentum one
// fp32 buffer; 8-bit Adam (Dettmers et al. 2022, arXiv 2110.02861) two 1-byte
// moments, their block-wise scales are 1/512 of that; Adafactor (Shazeer and
// Stern 2018) row and column sums only, counted as none a parameter.
func OptimizerState(kind string, precision gpu.Dtype) (Optimizer, error) {
	var o Optimizer
	if precision.Bytes() < 4 {
		o.Master = 4
	}
	switch kind {
	case "", "adam":
		o.States, o.Moments = 8, 2
	case "sgd-momentum":
		o.States, o.Moments = 4, 1
	case "adam-8bit":
		o.States, o.Moments = 2, 2
	case "sgd", "adafactor":
	default:
		return o, fmt.Errorf("optimizer %q is unknown; write adam, sgd, sgd-momentum, adam-8bit or adafactor", kind)
	}
	return o, nil
}
