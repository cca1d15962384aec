package model

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/gpu"
)

// llama is a Llama layer as Megatron-Core runs it: bf16, flash attention,
// no dropout.
func llama(cp int64) *Spec {
	return &Spec{
		Config: Config{Layers: 2, Hidden: 1024, Heads: 16, KVHeads: 8, FFN: 4096, Vocab: 32000, SeqLen: 2048,
			MLP: SwiGLU, Norm: RMSNorm, Position: Rotary, Attention: Flash, FinalNorm: true},
		TP: 1, CP: cp, Microbatch: 1, Precision: gpu.BF16, GradDtype: gpu.FP32,
	}
}

// A Llama layer keeps its input, two norms' outputs and the input between
// them, queries, keys and values, the attention's output with its row
// statistics, and the three widths of the MLP.
func TestSavedByALlamaLayer(t *testing.T) {
	s := llama(1)
	h, kv, f, tokens := int64(1024), int64(512), int64(4096), int64(2048)
	want := tokens*2*(4*h+(h+2*kv)+h+3*f) + tokens*16*4
	assert.Equal(t, want, saved(s))
}

// All-to-all keeps the attention's output on both sides of the last exchange;
// a ring keeps one.
func TestTradedHeadsKeepOneMoreOutput(t *testing.T) {
	ring, traded := llama(4), llama(4)
	traded.TradeHeads = true
	assert.Equal(t, int64(2048/4*1024*2), saved(traded)-saved(ring))
}

// Fused losses keep the logits, in 16 bits; otherwise the softmax is kept in
// fp32.
func TestSavedByTheLoss(t *testing.T) {
	head := func(loss LossKernels) int64 {
		s := llama(1)
		s.Loss = loss
		c := s.Build(Run{Layers: 1, Ends: true})
		free := Lifetimes(c.Tensors, c.Forward, c.Backward)
		var largest int64
		for _, ids := range free[1] {
			for _, id := range ids {
				if name := c.Tensors[id].Name; name == "head.softmax" || name == "head.log_softmax" || name == "head.logits.out" {
					largest = max(largest, c.Tensors[id].Bytes)
				}
			}
		}
		return largest
	}
	assert.Equal(t, int64(2048*32000*2), head(EngineLoss))
	assert.Equal(t, int64(2048*32000*2), head(FlashLoss))
	assert.Equal(t, int64(2048*32000*4), head(UnfusedLoss))
	assert.Equal(t, int64(2048*32000*4), head(PlainLoss))
}

// Parameter tensors add up to the parameters, frozen or not.
func TestWeightsAddUp(t *testing.T) {
	s := llama(1)
	s.TieEmbeddings = true
	c := s.Build(Run{Layers: 2, Embeds: true, Ends: true})
	assert.Equal(t, s.Parameters(), c.Parameters())

	s.LoRA = LoRA{Rank: 8, Targets: "all"}
	frozen := s.Build(Run{Layers: 2, Embeds: true, Ends: true})
	var bytes int64
	for _, n := range frozen.Frozen {
		bytes += n
	}
	assert.Equal(t, 2*s.Parameters(), bytes)
	// Llama's 2 layers of 1024, 8 of 16 heads for keys and values, 4096 inside.
	assert.Equal(t, int64(2*8*((1024+1024)+2*(1024+512)+(1024+1024)+2*(1024+4096)+(4096+1024))), frozen.Parameters())
}

// Adapters beside the modules that a list names, or one beside each of Megatron's
// matrices.
func TestAdaptersByModule(t *testing.T) {
	parameters := func(targets string, m Modules) int64 {
		s := llama(1)
		s.Modules, s.LoRA = m, LoRA{Rank: 8, Targets: targets}
		return s.Build(Run{Layers: 1}).Parameters() / 8
	}
	assert.EqualValues(t, 1024+1024+1024+512, parameters("q_proj,v_proj", PlainModules))
	assert.EqualValues(t, 1024+1024+1024+512, parameters("q_proj, v_proj", EngineModules))
	assert.EqualValues(t, 1024+4096, parameters("up_proj", PlainModules))
	assert.EqualValues(t, 1024+4096+4096+1024, parameters("gate_proj,down_proj", EngineModules))
	assert.EqualValues(t, 1024+2048, parameters("qkv", EngineModules), "one beside all three")
	assert.EqualValues(t, (1024+2048)+(1024+1024)+(1024+8192)+(4096+1024), parameters("all", EngineModules))
	assert.Equal(t, parameters("all", PlainModules), parameters("q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj", EngineModules))
}

// The words are those of matrices that the model has, and each of them trains
// something.
func TestTargetsAreTheModelsMatrices(t *testing.T) {
	sets := []string{"all", "attention", "mlp", "qkv"}
	latents := mixed(1, 1, 1).Config
	latents.Experts, latents.ExpertsPerToken, latents.ExpertFFN, latents.SharedExpertFFN, latents.DenseLayers = 0, 0, 0, 0, 0
	narrow := latents
	narrow.QLoraRank = 0
	gelu := llama(1).Config
	gelu.MLP = GELU
	for _, c := range []struct {
		config  Config
		modules []string
	}{
		{llama(1).Config, []string{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}},
		{gelu, []string{"q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"}},
		{latents, []string{"q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}},
		{narrow, []string{"q_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}},
	} {
		assert.Equal(t, append(slices.Clone(sets), c.modules...), c.config.TargetWords())
		for _, word := range c.config.TargetWords() {
			for _, modules := range []Modules{PlainModules, EngineModules} {
				s := llama(1)
				s.Config, s.Modules, s.LoRA = c.config, modules, LoRA{Rank: 8, Targets: word}
				assert.Empty(t, s.LoRA.UnknownTarget(&s.Config))
				assert.Positive(t, s.Build(Run{Layers: 1}).Parameters(), word)
			}
		}
	}
	assert.Equal(t, "kv_b_proj", (&LoRA{Targets: "q_proj,kv_b_proj"}).UnknownTarget(&gelu))
	assert.Equal(t, "q_b_proj", (&LoRA{Targets: "q_b_proj"}).UnknownTarget(&narrow))
}

// PEFT's adapters of rank 16 beside all linear layers of Llama-2-70B hold
// 207,093,760 parameters.
func TestAdaptersOfPEFT(t *testing.T) {
	s := llama(1)
	s.Config.Hidden, s.Heads, s.KVHeads, s.FFN, s.LoRA = 8192, 64, 8, 28672, LoRA{Rank: 16, Targets: "all"}
	assert.EqualValues(t, 207_093_760, 80*s.Build(Run{Layers: 1}).Parameters())
}

// Metrics of the loss run last, on the logits, which they keep until then.
func TestMetricsOfTheLossComeLast(t *testing.T) {
	s := llama(1)
	s.Loss, s.LossMetrics = FlashLoss, 2
	c := s.Build(Run{Layers: 1, Embeds: true, Ends: true})
	last := c.Backward[len(c.Backward)-6:]
	for i, name := range []string{"cast", "log_softmax", "loss", "cast", "log_softmax", "loss"} {
		assert.Equal(t, "metric."+name, last[i].Name)
	}
	free := Lifetimes(c.Tensors, c.Forward, c.Backward)[1]
	name := func(i int) (out []string) {
		for _, id := range free[len(free)-6+i] {
			out = append(out, c.Tensors[id].Name)
		}
		return out
	}
	assert.Contains(t, name(1), "metric.logits", "the copy goes behind its log-softmax")
	assert.Contains(t, name(3), "head.logits.out")
	s.LossMetrics = 0
	assert.Len(t, s.Build(Run{Layers: 1, Embeds: true, Ends: true}).Backward, len(c.Backward)-6)
}
