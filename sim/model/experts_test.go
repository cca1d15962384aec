package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/gpu"
	"trainsim/sim/input"
)

// mixed is a small mixture of experts with latent attention.
func mixed(tp, ep, etp int64) *Spec {
	return &Spec{
		Config: Config{Layers: 4, Hidden: 1024, Heads: 16, FFN: 4096, Vocab: 32000, SeqLen: 512,
			MLP: SwiGLU, Norm: RMSNorm, Position: Rotary, Attention: Flash, FinalNorm: true,
			Experts: 16, ExpertsPerToken: 4, ExpertFFN: 512, SharedExpertFFN: 512, DenseLayers: 1,
			HeadDim: 64, KVLoraRank: 256, QLoraRank: 384, RopeHeadDim: 32, VHeadDim: 64},
		TP: tp, CP: 1, EP: ep, ExpertTP: etp, SequenceParallel: tp > 1, Microbatch: 2, Precision: gpu.BF16, GradDtype: gpu.FP32,
	}
}

// The ranks of a stage hold the model: what is cut adds up, what is whole on
// every rank is the rest.
func TestMixturesHaveTheirParameters(t *testing.T) {
	for _, d := range []struct{ tp, ep, etp int64 }{{1, 1, 1}, {1, 4, 1}, {1, 16, 1}, {2, 1, 2}, {2, 4, 2}, {2, 8, 1}, {4, 16, 1}} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			s := mixed(d.tp, d.ep, d.etp)
			c := s.Build(Run{Layers: 4, Embeds: true, Ends: true})
			experts := int64(3) * 16 * 3 * 1024 * 512
			held := experts / d.ep / d.etp
			if s.expertsApart() {
				assert.Equal(t, held, c.ParametersOf(ByExpert))
			} else {
				assert.Zero(t, c.ParametersOf(ByExpert))
			}
			whole := int64(4)*(2*1024+1024*384+384+1024*(256+32)+256) + 3*16*1024 + 1024 // norms, latents, routers
			cut := s.Parameters() - experts - whole
			assert.Equal(t, held+whole+cut/d.tp, c.Parameters())
		})
	}
}

// The products of forward and backward are the operations that the model's
// formula counts, the causal half of the attention aside.
func TestMixturesHaveTheirFLOPs(t *testing.T) {
	s := mixed(1, 4, 1)
	c := s.Build(Run{Layers: 4, Embeds: true, Ends: true})
	count := func(ops []Op) (products, attention float64) {
		for i := range ops {
			switch ops[i].Kernel.Kind {
			case gpu.GEMM:
				products += ops[i].Kernel.FLOPs()
			case gpu.Attention:
				attention += ops[i].Kernel.FLOPs()
			}
		}
		return products, attention
	}
	tokens := float64(2 * 512)
	forward, core := count(c.Forward)
	want := tokens * (s.FLOPs() - 4*s.coreFLOPs())
	assert.InEpsilon(t, want, forward, 1e-12)
	assert.InEpsilon(t, tokens*4*s.coreFLOPs()/2, core, 1e-12)
	backward, _ := count(c.Backward)
	assert.InEpsilon(t, 2*want, backward, 1e-12)
}

// Capacity decides how many rows leave a rank, whatever the tokens want.
func TestExpertCapacity(t *testing.T) {
	c := mixed(1, 4, 1).Config
	assert.Equal(t, int64(1000*4), c.routedRows(1000))
	c.ExpertCapacity = 1
	assert.Equal(t, int64(250*16), c.routedRows(1000))
	assert.Equal(t, int64(251*16), c.routedRows(1001), "rounded up for each expert")
	c.ExpertCapacity = 1.5
	assert.Equal(t, int64(375*16), c.routedRows(1000))
}

// A token's products are two operations for each element of the matrices that it
// meets: of the experts, those that it is sent to.
func TestTokensMeetSomeExperts(t *testing.T) {
	s := mixed(1, 1, 1)
	norms := int64(4)*(2*1024+384+256) + 1024
	met := s.Parameters() - 3*12*3*1024*512 - norms - 32000*1024 // idle experts, norms, embedding
	assert.Equal(t, float64(2*met), s.FLOPs()-4*s.coreFLOPs())
}

func TestBadMixtures(t *testing.T) {
	for text, change := range map[string]func(*Config){
		"experts_per_token: 17 of 16 experts cannot take a token; write a number from 1 to experts":       func(c *Config) { c.ExpertsPerToken = 17 },
		"dense_layers: 5 is more than the model's 4 layers; write a smaller number":                       func(c *Config) { c.DenseLayers = 5 },
		"expert_ffn: is for a mixture of experts; write experts, their number in a layer, too":            func(c *Config) { c.Experts, c.ExpertsPerToken, c.SharedExpertFFN, c.DenseLayers = 0, 0, 0, 0 },
		"shared_expert_gate: needs a shared expert; write shared_expert_ffn, its width, too":              func(c *Config) { c.SharedExpertFFN, c.SharedExpertGate = 0, true },
		"attention: latent attention runs in the fused kernel; write \"flash\"":                           func(c *Config) { c.Attention = Unfused },
		"rope_head_dim: is for latent attention; write kv_lora_rank, the width of its latent, too":        func(c *Config) { c.KVLoraRank, c.QLoraRank, c.VHeadDim = 0, 0, 0 },
		"kv_heads: latent attention has a key of its own for every head; leave kv_heads out, or write 16": func(c *Config) { c.KVHeads = 4 },
	} {
		c := mixed(1, 1, 1).Config
		change(&c)
		problems := input.Each(c.Validate())
		if assert.Len(t, problems, 1, text) {
			assert.Equal(t, text, problems[0].Key+": "+problems[0].Text)
		}
	}
}

// Tokens that no expert takes are no work of the model's; rows that fill experts
// up are work of the hardware's alone.
func TestCapacityCountsOnce(t *testing.T) {
	c := mixed(1, 4, 1).Config
	all := c.FLOPs()
	c.ExpertCapacity = 2
	assert.Equal(t, all, c.FLOPs())
	assert.Equal(t, float64(3*2*3*1024*4*512), c.paddingFLOPs(), "as much again as the routed experts of three layers")
	c.ExpertCapacity = 0.5
	assert.Equal(t, all-3*2*3*1024*4*512/2, c.FLOPs())
	assert.Zero(t, c.paddingFLOPs())
	c.ExpertCapacity = 5
	assert.Equal(t, "expert_capacity", input.Each(c.Validate())[0].Key, "more than all tokens")
}
