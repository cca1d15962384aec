package model

import (
	"fmt"

	"trainsim/sim/gpu"
)

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1):
// keys and values come from one narrow latent, queries from another; a small
// part of each key, the same for all heads, carries the position.

// latent reports whether attention is of that kind.
func (c *Config) latent() bool { return c.KVLoraRank > 0 }

// ValueHead returns the width of one head of the values.
func (c *Config) ValueHead() int64 {
	if c.latent() && c.VHeadDim > 0 {
		return c.VHeadDim
	}
	return c.Head()
}

// keyHead returns the width of one head of queries and keys.
func (c *Config) keyHead() int64 {
	if c.latent() {
		return c.Head() + c.RopeHeadDim
	}
	return c.Head()
}

// coreHead returns the width of a head as the attention's products see it: the
// mean of the score's and the sum's.
func (c *Config) coreHead() int64 { return (c.keyHead() + c.ValueHead()) / 2 }

func (c *Config) latentProblems() []Problem {
	var out []Problem
	add := func(key, format string, args ...any) { out = append(out, Problem{key, fmt.Sprintf(format, args...)}) }
	if !c.latent() {
		for _, k := range []struct {
			key   string
			value int64
		}{{"q_lora_rank", c.QLoraRank}, {"rope_head_dim", c.RopeHeadDim}, {"v_head_dim", c.VHeadDim}} {
			if k.value > 0 {
				add(k.key, "is for latent attention; write kv_lora_rank, the width of its latent, too")
			}
		}
		return out
	}
	if c.Attention == Unfused {
		add("attention", "latent attention runs in the fused kernel; write \"flash\"")
	}
	if c.KV() != c.Heads {
		add("kv_heads", "latent attention has a key of its own for every head; leave kv_heads out, or write %d", c.Heads)
	}
	if c.QKVBias {
		add("qkv_bias", "latent attention has no biases; write false")
	}
	if c.QKNorm {
		add("qk_norm", "the latents have norms of their own; write false")
	}
	return out
}

// latentAttentionParameters returns the parameters of a layer's attention.
func (c *Config) latentAttentionParameters() int64 {
	h, heads := c.Hidden, c.Heads
	n := heads * c.ValueHead() * h // output projection
	if c.QLoraRank > 0 {
		n += h*c.QLoraRank + c.QLoraRank*c.normWidth() + c.QLoraRank*heads*c.keyHead()
	} else {
		n += h * heads * c.keyHead()
	}
	return n + h*(c.KVLoraRank+c.RopeHeadDim) + c.KVLoraRank*c.normWidth() + c.KVLoraRank*heads*(c.Head()+c.ValueHead())
}

// latentAttention is the attention block with latents. The narrow projections
// are whole on every tensor-parallel rank, those behind the norms are cut by
// heads.
func (b *builder) latentAttention(x value) value {
	heads := b.Heads / b.TP
	q := x
	if b.QLoraRank > 0 {
		q = b.norm("attn.q_norm", b.linear("attn.q_down", x, b.QLoraRank, replicated, false))
	}
	q = b.linear("attn.q_up", q, heads*b.keyHead(), column, false)
	down := b.linear("attn.kv_down", x, b.KVLoraRank+b.RopeHeadDim, replicated, false)
	latent, position := b.splitLatent(down)
	kv := b.linear("attn.kv_up", b.norm("attn.kv_norm", latent), heads*(b.Head()+b.ValueHead()), column, false)
	core := func(value) value { return b.latentCore(q, kv, position, heads) }
	var ctx value
	if b.Checkpointing.Selective && b.phase != Recompute {
		ctx = b.checkpoint(q, core)
	} else {
		ctx = core(q)
	}
	return b.linear("attn.proj", ctx, b.Hidden, row, false)
}

// splitLatent parts the latent of keys and values from the key that carries
// positions. Both are views; their gradients are put side by side.
func (b *builder) splitLatent(down value) (latent, position value) {
	view := func(name string, width int64) value {
		v := b.tensor(name, down.rows, width, b.element())
		b.chunk.Tensors[v.id].Bytes = 0
		return v
	}
	latent, position = view("attn.latent", b.KVLoraRank), view("attn.position_key", b.RopeHeadDim)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		whole := b.like("attn.kv_down.dy", down)
		n := down.rows * down.width * b.element()
		b.memory("attn.join_latent_grads", BackwardInput, gpu.Copy, n, n, ids(down, b.grad(latent), b.grad(position)), ids(whole))
		b.setGrad(down, whole)
	})
	return latent, position
}

// latentCore turns positions, puts keys together and attends (Megatron-Core's
// fused kernels: queries in place, keys and values into tensors of their own).
func (b *builder) latentCore(q, kv, position value, heads int64) value {
	e, width := b.element(), heads*(b.keyHead()+b.ValueHead())
	b.memory("attn.rope_q", b.phase, gpu.Elementwise, q.rows*heads*b.RopeHeadDim*e, q.rows*heads*b.RopeHeadDim*e, ids(q), nil)
	keys := b.tensor("attn.keys_values", kv.rows, width, e)
	read, write := kv.rows*kv.width*e, kv.rows*width*e
	b.memory("attn.rope_kv", b.phase, gpu.Elementwise, read, write, ids(kv, position), ids(keys))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dkv, dposition := b.like("attn.dkv", kv), b.like("attn.dposition", position)
		b.memory("attn.rope_kv.bwd", BackwardInput, gpu.Elementwise, write, read, ids(b.grad(keys)), ids(dkv, dposition))
		b.memory("attn.rope_q.bwd", BackwardInput, gpu.Elementwise, q.rows*heads*b.RopeHeadDim*e, q.rows*heads*b.RopeHeadDim*e, ids(b.grad(q)), nil)
		b.setGrad(kv, dkv)
		b.setGrad(position, dposition)
	})
	return b.latentFlash(q, keys, heads)
}

// latentFlash is the fused attention kernel over queries and keys of one width
// and values of another.
func (b *builder) latentFlash(q, keys value, heads int64) value {
	others, token := b.exchangeKeys(keys, heads, b.coreHead(), b.phase)
	ctx := b.tensor("attn.ctx", q.rows, heads*b.ValueHead(), b.element())
	lse := b.tensor("attn.lse", q.rows, heads, 4)
	k := b.attentionKernel(heads, heads, b.coreHead())
	b.kernel("attn.flash", b.phase, k, ids(q, keys), ids(ctx, lse))
	b.joinKeys(others, token, b.phase)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		others, token := b.exchangeKeys(keys, heads, b.coreHead(), BackwardInput)
		dq, dkeys := b.like("attn.dq", q), b.like("attn.dkeys_values", keys)
		back := k
		back.Backward = true
		b.kernel("attn.flash.bwd", BackwardInput, back, ids(q, keys, ctx, lse, b.grad(ctx)), ids(dq, dkeys))
		b.joinKeys(others, token, BackwardInput)
		b.setGrad(q, dq)
		b.setGrad(keys, dkeys)
	})
	return ctx
}
