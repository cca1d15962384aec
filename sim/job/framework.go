package job

import (
	"fmt"

	"trainsim/sim/framework"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// software fills what a model's Spec takes from the framework.
func (c *Config) software(s *model.Spec) error {
	f := &c.Framework
	var err error
	if s.Loss, err = c.loss(); err != nil {
		return err
	}
	s.Modules, s.Eager = f.Layers, f.EagerPointwise
	s.WeightGrads = c.weightGrads(s.Precision, s.GradDtype)
	s.AddGrads = f.AddsGrads && c.Parallel.ZeRO < 2 || c.GathersOnce()
	s.LossMetrics = c.Training.LossMetrics
	s.ScatterGather, s.KeepOutputs = f.ScatterGather, f.KeepsOutputs
	s.TradeHeads, s.CPInOrder = c.tradesHeads(), f.Ring == framework.InOrder
	s.SerialTP = c.serialTP()
	return nil
}

// weightGrads says where products leave weight gradients. Adding to main
// gradients in the product takes fp32 main gradients of 16-bit weights that stay
// whole; other formats are left to autograd.
func (c *Config) weightGrads(precision, grads gpu.Dtype) model.WeightGrads {
	if grads != gpu.FP32 || precision.Bytes() == 4 || c.Parallel.ZeRO >= 2 {
		return model.NewWeightGrads
	}
	return c.Framework.WeightGrads
}

// loss resolves training.cross_entropy.
func (c *Config) loss() (model.LossKernels, error) {
	kernel := model.LossKernels(c.Training.CrossEntropy)
	if kernel == "" || kernel == "auto" {
		kernel = c.Framework.CrossEntropy
	}
	switch kernel {
	case model.EngineLoss, model.FlashLoss, model.UnfusedLoss, model.PlainLoss:
		return kernel, nil
	}
	return "", fmt.Errorf("cross_entropy %q is unknown; write auto, fused, flash, unfused or plain", kernel)
}

// tradesHeads resolves parallel.cp_comm: an all-to-all moves less than a ring
// of keys and values where the heads divide by the ranks and NVLink joins them.
func (c *Config) tradesHeads() bool {
	p := &c.Parallel
	switch p.CPComm {
	case "a2a":
		return true
	case "p2p":
		return false
	}
	return !c.Framework.RingOnly && c.Model.TradesHeads(p.TP*p.CP) &&
		p.TP*p.CP <= c.Cluster.DomainSize() && c.Cluster.NVLinks > 0
}

// serialTP reports whether collectives miss their overlap in the backward.
// Megatron-LM orders them ahead of the products by one launch queue
// (CUDA_DEVICE_MAX_CONNECTIONS=1), which it demands before Blackwell only; with
// several queues a product that fills the device goes first.
func (c *Config) serialTP() bool {
	return c.Host.LaunchBlocking || c.Framework.SerialTP ||
		!c.GPU.Generation().SingleLaunchQueue && !c.Parallel.OverlapTP
}
