package job

import (
	"fmt"

	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// TransformerEngine reports whether the layers are Transformer Engine's, which
// Megatron-Core takes on GPUs that have FP8; on older ones, and with separate
// attention kernels, they are Megatron-LM's own.
func (c *Config) TransformerEngine() bool {
	return c.megatron() && c.GPU.Generation().FP8 && c.Model.FusedAttention()
}

// alternates reports whether selective recomputation is that of PyTorch's own
// trainers, which choose operators to keep. Megatron-LM's, of the attention core
// alone, has little to save where one kernel computes it.
func (c *Config) alternates() bool {
	return !c.megatron() && c.Host.Framework != "deepspeed" && c.Model.FusedAttention()
}

// scatterGather reports whether the ranks of a tensor-parallel group share
// hand-offs: DeepSpeed's pipeline does, and Megatron-LM did from 2021
// (Narayanan et al. 2021, section 4.1) until Megatron-Core, whose jobs do not
// compute attention by separate kernels.
func (c *Config) scatterGather() bool {
	return c.Host.Framework == "deepspeed" || c.megatron() && !c.Model.FusedAttention()
}

// modules says whose layers the framework trains. Llama's RMS norms and gated
// blocks came to Megatron with Transformer Engine's modules.
func (c *Config) modules() model.Modules {
	switch {
	case c.TransformerEngine(), c.megatron() && c.Model.NeedsEngine():
		return model.EngineModules
	case c.megatron(), c.Host.Framework == "deepspeed":
		return model.MegatronModules
	}
	return model.PlainModules
}

func (c *Config) megatron() bool {
	return c.Host.Framework == "" || c.Host.Framework == "megatron"
}

// weightGrads follows Megatron's gradient accumulation fusion, which adds to
// fp32 main gradients in the product itself; other frameworks and formats leave
// it to autograd.
func (c *Config) weightGrads(precision, grads gpu.Dtype) model.WeightGrads {
	switch {
	case !c.megatron() || grads != gpu.FP32 || precision.Bytes() == 4 || c.Parallel.ZeRO >= 2:
		return model.NewWeightGrads
	case c.TransformerEngine():
		return model.StandInWeightGrads
	}
	return model.FusedWeightGrads
}

// loss resolves training.cross_entropy. Transformer Engine has the fused
// kernel since 2025, so that it is taken for the GPUs of that year.
func (c *Config) loss() (model.LossKernels, error) {
	switch c.Training.CrossEntropy {
	case "", "auto":
		if c.TransformerEngine() && c.GPU.Generation().FusedCrossEntropy {
			return model.EngineLoss, nil
		}
		if c.modules() == model.PlainModules {
			return model.PlainLoss, nil
		}
		return model.UnfusedLoss, nil
	case "fused":
		return model.EngineLoss, nil
	case "flash":
		return model.FlashLoss, nil
	case "unfused":
		return model.UnfusedLoss, nil
	case "plain":
		return model.PlainLoss, nil
	}
	return 0, fmt.Errorf("cross_entropy %q is unknown; write auto, fused, flash, unfused or plain", c.Training.CrossEntropy)
}

// tradesHeads resolves parallel.cp_comm: an all-to-all moves less than a ring
// of keys and values where the heads divide by the ranks and NVLink joins them.
// PyTorch's context parallelism is a ring. Its published runs over two to eight
// ranks (torchtitan, tables 2 and 6) take as long as a sequence cut in order
// takes the last rank, 2 CP - 1 times the attention over its own part: within
// 10 % there, and far from an even cut.
func (c *Config) tradesHeads() bool {
	p := &c.Parallel
	switch p.CPComm {
	case "a2a":
		return true
	case "p2p":
		return false
	}
	if c.modules() == model.PlainModules { // which have the ring alone
		return false
	}
	ranks := p.TP * p.CP
	return c.Model.TradesHeads(ranks) && ranks <= c.Cluster.DomainSize() && c.Cluster.NVLinks > 0
}

// serialTP reports whether collectives miss their overlap in the backward.
// Megatron-LM orders them ahead of the products by one launch queue
// (CUDA_DEVICE_MAX_CONNECTIONS=1), which it demands before Blackwell only; with
// several queues a product that fills the device goes first. Megatron-DeepSpeed's
// layers are older than the overlap (Megatron-LM had it from November 2021 on).
func (c *Config) serialTP() bool {
	return c.Host.LaunchBlocking || c.Host.Framework == "deepspeed" ||
		!c.GPU.Generation().SingleLaunchQueue && !c.Parallel.OverlapTP
}
