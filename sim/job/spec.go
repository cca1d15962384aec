package job

import (
	"fmt"

	"trainsim/sim/framework"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// dtypes maps the scenario's precisions.
var dtypes = map[string]gpu.Dtype{
	"fp32": gpu.FP32, "tf32": gpu.TF32, "fp16": gpu.FP16, "bf16": gpu.BF16, "fp8": gpu.FP8,
}

// dtype returns the number format of a precision, fallback when it is empty.
func dtype(name string, fallback gpu.Dtype) (gpu.Dtype, error) {
	if name == "" {
		return fallback, nil
	}
	d, ok := dtypes[name]
	if !ok {
		return 0, fmt.Errorf("precision %q is unknown; write fp32, tf32, fp16, bf16 or fp8", name)
	}
	return d, nil
}

// Spec returns the model as one rank and micro-batch see it.
func (c *Config) Spec() (*model.Spec, error) {
	precision, err := dtype(c.Training.Precision, gpu.BF16)
	if err != nil {
		return nil, err
	}
	grads, err := dtype(c.Training.GradPrecision, gpu.FP32)
	if err != nil {
		return nil, err
	}
	p := &c.Parallel
	s := &model.Spec{
		Config: c.Model, LoRA: c.LoRA, Microbatch: int64(c.Schedule.MicrobatchSize),
		TP: int64(p.TP), CP: int64(p.CP), EP: int64(max(p.EP, 1)), ExpertTP: int64(p.ExpertTP()),
		SequenceParallel: p.SequenceParallel && p.TP > 1, OverlapTP: p.OverlapTP,
		Precision: precision, GradDtype: grads, Dropout: c.Training.Dropout, FP8Weights: c.Training.FP8ParamGather,
		GatherParams: p.ZeRO >= 2 && !c.GathersOnce(), ReshardAfterForward: p.ZeRO >= 3,
		GatherLate: p.BackwardPrefetch == "post",
	}
	if err := c.software(s); err != nil {
		return nil, err
	}
	switch c.Training.Recompute {
	case "selective":
		s.Checkpointing.Alternate = c.Framework.Selective == framework.SecondProducts
		s.Checkpointing.Selective = !s.Checkpointing.Alternate
	case "full":
		s.Checkpointing.Every = 1
	case "every-n":
		s.Checkpointing.Every = max(1, c.Training.RecomputeN)
	case "sqrt":
		for s.Checkpointing.Every*s.Checkpointing.Every < c.Model.Depth() {
			s.Checkpointing.Every++
		}
	}
	return s, nil
}
