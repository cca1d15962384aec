package model_test

import (
	"fmt"

	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// A stage of two layers on one of four tensor-parallel ranks.
func ExampleSpec_Build() {
	s := &model.Spec{
		Config: model.Config{Layers: 2, Hidden: 4096, Heads: 32, FFN: 11008, Vocab: 32000, SeqLen: 4096,
			MLP: model.SwiGLU, Norm: model.RMSNorm, Position: model.Rotary, Attention: model.Flash, FinalNorm: true},
		TP: 4, CP: 1, SequenceParallel: true, Microbatch: 1, Precision: gpu.BF16, GradDtype: gpu.FP32,
	}
	c := s.Build(model.Run{Layers: 2})
	for _, op := range c.Forward[:5] {
		fmt.Println(op.Name)
	}
	fmt.Println(c.Parameters(), "parameters,", c.Output, "bytes to the next stage")
	// Output:
	// recv_forward
	// params
	// layer0.norm1
	// layer0.attn.qkv.all_gather
	// layer0.attn.qkv
	// 101203968 parameters, 8388608 bytes to the next stage
}
