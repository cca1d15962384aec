package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/gpu"
)

// gpt is a GPT layer as the activation formulas of Korthikanti et al. 2022
// (arXiv 2205.05198, section 4) assume it: fp16, dropout, unfused attention.
func gpt(tp int64, sp bool) *Spec {
	return &Spec{
		Config: Config{Layers: 2, Hidden: 1024, Heads: 16, FFN: 4096, Vocab: 32000, SeqLen: 512,
			MLP: GELU, Norm: LayerNorm, Position: Learned, Attention: Unfused, LinearBias: true, QKVBias: true, FinalNorm: true},
		TP: tp, CP: 1, SequenceParallel: sp, Microbatch: 4, Precision: gpu.FP16, GradDtype: gpu.FP32, Dropout: true,
	}
}

// saved returns the bytes that one more layer keeps from forward to backward,
// without the row statistics of the norms, which the formulas leave out.
func saved(s *Spec) int64 {
	return savedBy(s, 3) - savedBy(s, 2)
}

func savedBy(s *Spec, layers int) int64 {
	c := s.Build(Run{Layers: layers})
	free := Lifetimes(c.Tensors, c.Forward, c.Backward)
	written := make([]bool, len(c.Tensors))
	for _, op := range c.Forward {
		for _, id := range op.Writes {
			written[id] = true
		}
	}
	var sum int64
	for _, ids := range free[1] {
		for _, id := range ids {
			if written[id] && !strings.HasSuffix(c.Tensors[id].Name, ".stats") {
				sum += c.Tensors[id].Bytes
			}
		}
	}
	return sum
}

func TestActivationFormulas(t *testing.T) {
	const a, S, b, h = 16, 512, 4, 1024
	sbh, as2b := int64(S*b*h), int64(a*S*S*b)
	for _, tp := range []int64{1, 2, 4, 8} {
		t.Run(fmt.Sprintf("tp%d", tp), func(t *testing.T) {
			s := gpt(tp, false)
			assert.Equal(t, 10*sbh+24*sbh/tp+5*as2b/tp, saved(s), "tensor parallel: sbh(10 + 24/t + 5as/ht)")
			s = gpt(tp, true)
			assert.Equal(t, 34*sbh/tp+5*as2b/tp, saved(s), "with sequence parallel: sbh/t (34 + 5as/h)")
			s.Checkpointing = Checkpointing{Selective: true}
			assert.Equal(t, 34*sbh/tp, saved(s), "selective: 34sbh/t")
			s = gpt(tp, false)
			s.Checkpointing = Checkpointing{Every: 1}
			assert.Equal(t, 2*sbh, saved(s), "full: 2sbh")
			s = gpt(tp, true)
			s.Checkpointing = Checkpointing{Every: 1}
			assert.Equal(t, 2*sbh/tp, saved(s), "full with sequence parallel: 2sbh/t")
		})
	}
}

func TestBuildCountsTheParametersOfTheFormula(t *testing.T) {
	s := gpt(1, false)
	assert.Equal(t, s.Parameters(), s.Build(Run{Layers: 2, Embeds: true, Ends: true}).Parameters())
	s.TieEmbeddings, s.MLP, s.Norm, s.QKNorm = true, SwiGLU, RMSNorm, true
	s.KVHeads, s.LinearBias, s.Position = 4, false, Rotary
	assert.Equal(t, s.Parameters(), s.Build(Run{Layers: 2, Embeds: true, Ends: true}).Parameters())
}

func TestFLOPs(t *testing.T) {
	s := gpt(1, false)
	c := s.Build(Run{Layers: 2, Embeds: true, Ends: true})
	sum := func(ops []Op) (f float64) {
		for i := range ops {
			f += ops[i].Kernel.FLOPs()
		}
		return f
	}
	// 2 * (12 l h^2 + V h) a token, and the attention's 4 s h a layer: Narayanan
	// et al. 2021 (arXiv 2104.04473), appendix: forward 24Bslh^2(1 + s/6h) + 2BshV.
	B, S, l, h, V := 4.0, 512.0, 2.0, 1024.0, 32000.0
	want := B*S*l*(24*h*h+4*S*h) + 2*B*S*h*V
	assert.Equal(t, want, sum(c.Forward))
	assert.Equal(t, 2*want, sum(c.Backward))
}
