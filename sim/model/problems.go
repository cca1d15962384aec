package model

import (
	"errors"

	"trainsim/sim/input"
)

// Validate returns every way in which the configuration cannot describe a model,
// joined, or nil. Each is an [*input.Problem] with the key that it concerns.
func (c *Config) Validate() error {
	var found []error
	for _, p := range families[c.Family].Problems(c) {
		found = append(found, p)
	}
	return errors.Join(found...)
}

type problems []*input.Problem

// add records a problem with a key; With adds the others on which it rests.
func (p *problems) add(key, format string, args ...any) *input.Problem {
	found := input.Bad(key, format, args...)
	*p = append(*p, found)
	return found
}

// Problems returns every way in which the configuration cannot describe a
// transformer.
func (transformer) Problems(c *Config) []*input.Problem {
	var out problems
	positive := func(key string, v int64) {
		if v <= 0 {
			out.add(key, "%d is not positive; write the model's %s", v, key)
		}
	}
	positive("layers", c.Layers)
	positive("hidden", c.Hidden)
	positive("heads", c.Heads)
	positive("ffn", c.FFN)
	positive("vocab", c.Vocab)
	positive("seq_len", c.SeqLen)
	if len(out) > 0 {
		return out
	}
	if c.Experts == 0 {
		out.unused("experts", "is for a mixture of experts; write experts, their number in a layer, too",
			c.expertKeys())
	} else {
		c.expertProblems(&out)
	}
	if c.latent() {
		c.latentProblems(&out)
	} else {
		out.unused("kv_lora_rank", "is for latent attention; write kv_lora_rank, the width of its latent, too",
			c.latentKeys())
	}
	if c.HeadDim == 0 && c.Hidden%c.Heads != 0 {
		out.add("heads", "hidden %d is not divisible by %d heads; write head_dim, or heads that divide hidden",
			c.Hidden, c.Heads).With("hidden", "head_dim")
	}
	if kv := c.KVHeads; kv < 0 || kv > c.Heads || (kv > 0 && c.Heads%kv != 0) {
		out.add("kv_heads", "%d heads cannot share %d key/value heads; write a divisor of heads",
			c.Heads, kv).With("heads")
	}
	if c.Position == Learned && c.MaxPositions > 0 && c.SeqLen > c.MaxPositions {
		out.add("seq_len", "%d is beyond the model's %d learned positions; write a shorter sequence "+
			"or raise max_positions", c.SeqLen, c.MaxPositions).With("max_positions", "position")
	}
	return out
}

// keyed is a key that has a value, or not.
type keyed struct {
	key string
	set bool
}

// unused reports keys that mean nothing in a model without another key.
func (p *problems) unused(without, text string, keys []keyed) {
	for _, k := range keys {
		if k.set {
			p.add(k.key, "%s", text).With(without)
		}
	}
}

func (c *Config) expertKeys() []keyed {
	return []keyed{
		{"experts_per_token", c.ExpertsPerToken > 0}, {"expert_ffn", c.ExpertFFN > 0},
		{"shared_expert_ffn", c.SharedExpertFFN > 0}, {"dense_layers", c.DenseLayers > 0},
		{"expert_capacity", c.ExpertCapacity > 0},
	}
}

func (c *Config) latentKeys() []keyed {
	return []keyed{
		{"q_lora_rank", c.QLoraRank > 0}, {"rope_head_dim", c.RopeHeadDim > 0}, {"v_head_dim", c.VHeadDim > 0},
	}
}

// expertProblems adds what is wrong with the mixture of experts.
func (c *Config) expertProblems(p *problems) {
	if c.ExpertsPerToken < 1 || c.ExpertsPerToken > c.Experts {
		p.add("experts_per_token", "%d of %d experts cannot take a token; write a number from 1 to experts",
			c.ExpertsPerToken, c.Experts).With("experts")
	}
	if c.DenseLayers > c.Layers {
		p.add("dense_layers", "%d is more than the model's %d layers; write a smaller number",
			c.DenseLayers, c.Layers).With("layers")
	}
	if most := float64(c.Experts) / float64(max(c.ExpertsPerToken, 1)); c.ExpertCapacity > most {
		p.add("expert_capacity", "%g gives an expert more than all tokens; write at most %g, "+
			"experts / experts_per_token", c.ExpertCapacity, most).With("experts", "experts_per_token")
	}
	if c.SharedExpertGate && c.SharedExpertFFN == 0 {
		p.add("shared_expert_gate", "needs a shared expert; write shared_expert_ffn, its width, too").
			With("shared_expert_ffn")
	}
	if c.ParallelBlock {
		p.add("parallel_block", "is not modelled beside experts; write false").With("experts")
	}
	if c.LinearBias {
		p.add("linear_bias", "experts have no biases here; write false").With("experts")
	}
}

// latentProblems adds what is wrong with latent attention.
func (c *Config) latentProblems(p *problems) {
	if c.Attention == Unfused {
		p.add("attention", "latent attention runs in the fused kernel; write \"flash\"").With("kv_lora_rank")
	}
	if c.KV() != c.Heads {
		p.add("kv_heads", "latent attention has a key of its own for every head; "+
			"leave kv_heads out, or write %d", c.Heads).With("heads", "kv_lora_rank")
	}
	if c.QKVBias {
		p.add("qkv_bias", "latent attention has no biases; write false").With("kv_lora_rank")
	}
	if c.QKNorm {
		p.add("qk_norm", "the latents have norms of their own; write false").With("kv_lora_rank")
	}
}
