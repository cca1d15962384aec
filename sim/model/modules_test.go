package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/gpu"
)

// launches counts the kernels of one layer whose names end so.
func launches(s *Spec, suffix string) (forward, backward int) {
	c := s.Build(Run{Layers: 1})
	for i, ops := range [][]Op{c.Forward, c.Backward} {
		for _, op := range ops {
			if op.Kind == Compute && strings.HasSuffix(op.Name, suffix) {
				*[]*int{&forward, &backward}[i]++
			}
		}
	}
	return forward, backward
}

// TestModules: Megatron-LM's own layers have kernels that Transformer Engine's
// have not, and plain PyTorch's lie between.
func TestModules(t *testing.T) {
	tests := []struct {
		modules                  Modules
		attention                AttentionKind
		bias, unpack, rows, pack int
	}{
		{MegatronModules, Unfused, 1, 0, 1, 1},
		{MegatronModules, Flash, 1, 1, 1, 1},
		{PlainModules, Flash, 0, 0, 0, 1},
		{EngineModules, Flash, 0, 0, 0, 0},
	}
	for _, x := range tests {
		s := gpt(1, false)
		s.Modules, s.Attention, s.Precision = x.modules, x.attention, gpu.BF16
		bias, _ := launches(s, "attn.qkv.bias")
		unpack, _ := launches(s, "attn.unpack")
		rows, _ := launches(s, "attn.ctx.rows")
		_, pack := launches(s, "attn.pack_grads")
		assert.Equal(t, []int{x.bias, x.unpack, x.rows, x.pack}, []int{bias, unpack, rows, pack}, "%v %v", x.modules, x.attention)
	}
}
