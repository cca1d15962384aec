package job

import (
	"fmt"
)

// FP8WeightsProblem returns why the job's weights may not be kept in FP8: the key
// at fault and what to write instead; nothing where they may or need not.
func (c *Config) FP8WeightsProblem() (key, text string) {
	switch {
	case !c.Training.FP8ParamGather:
		return "", ""
	case c.Training.Precision != "fp8":
		return "training.precision", "weights are in 8 bits only with precision \"fp8\"; write that, or false"
	case !c.megatron():
		return "host.framework", fmt.Sprintf("is Megatron-LM's, not framework %q's; write framework = \"megatron\", or false", c.Host.Framework)
	case c.Parallel.ZeRO == 0:
		return "parallel.zero", "is for the distributed optimizer; write parallel.zero = 1, or false"
	}
	return "", ""
}

// KeepFP8Weights keeps the weights in FP8 where they may be.
func (c *Config) KeepFP8Weights() bool {
	c.Training.FP8ParamGather = true
	key, _ := c.FP8WeightsProblem()
	c.Training.FP8ParamGather = key == ""
	return key == ""
}
