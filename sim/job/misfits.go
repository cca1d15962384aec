package job

import (
	"trainsim/sim/input"
	"trainsim/sim/model"
)

// Misfits returns every reason for which the model cannot be cut over the job's
// ranks.
func (c *Config) Misfits() []*input.Problem {
	l := c.ModelLayout()
	return c.Model.Misfits(&l)
}

// ModelLayout is the job's layout as far as the model's layers care.
func (c *Config) ModelLayout() model.Layout {
	p := &c.Parallel
	return model.Layout{
		TP: p.TP, CP: p.CP, EP: p.EP, ExpertTP: p.ExpertTP(), Stage: p.RanksPerStage(), ZeRO: p.ZeRO,
		SequenceParallel: p.SequenceParallel, CPComm: p.CPComm,
		Framework: c.Framework.Name, DenseOnly: !c.Framework.Experts, LoRA: c.LoRA,
	}
}

// FP8WeightsProblem returns why the job's weights may not be kept in FP8, with the
// other key at fault; nil where they may or need not.
func (c *Config) FP8WeightsProblem() *input.Problem {
	bad := func(with, format string, args ...any) *input.Problem {
		return input.Bad("training.fp8_param_gather", format, args...).With(with)
	}
	switch {
	case !c.Training.FP8ParamGather:
		return nil
	case c.Training.Precision != "fp8":
		return bad("training.precision", "weights are in 8 bits only with precision \"fp8\"; write that, or false")
	case !c.Framework.FP8Weights:
		return bad("framework.preset",
			"is Megatron-Core's, not framework %q's; write framework = \"megatron\", or false", c.Framework.Name)
	case c.Parallel.ZeRO == 0:
		return bad("parallel.zero", "is for the distributed optimizer; write parallel.zero = 1, or false")
	}
	return nil
}

// KeepFP8Weights keeps the weights in FP8 where they may be.
func (c *Config) KeepFP8Weights() bool {
	c.Training.FP8ParamGather = true
	c.Training.FP8ParamGather = c.FP8WeightsProblem() == nil
	return c.Training.FP8ParamGather
}
