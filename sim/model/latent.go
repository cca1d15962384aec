package model

import "trainsim/sim/gpu"

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1):
// keys and values come from one narrow latent, queries from another; a small
// part of each key, the same for all heads, carries the position.

// latent reports whether attention is of that kind.
func (c *Config) latent() bool { return c.KVLoraRank > 0 }

// valueHead returns the width of one head of the values.
func (c *Config) valueHead() int64 {
	if c.latent() && c.VHeadDim > 0 {
		return c.VHeadDim
	}
	return c.headWidth()
}

// keyHead returns the width of one head of queries and keys.
func (c *Config) keyHead() int64 {
	if c.latent() {
		return c.headWidth() + c.RopeHeadDim
	}
	return c.headWidth()
}

// coreHead returns the width of a head as the attention's products see it: the
// mean of the score's and the sum's.
func (c *Config) coreHead() int64 { return (c.keyHead() + c.valueHead()) / 2 }

// latentAttentionParameters returns the parameters of a layer's attention.
func (c *Config) latentAttentionParameters() int64 {
	h, heads := c.Hidden, c.Heads
	n := heads * c.valueHead() * h // output projection
	if c.QLoraRank > 0 {
		n += h*c.QLoraRank + c.QLoraRank*c.normWidth() + c.QLoraRank*heads*c.keyHead()
	} else {
		n += h * heads * c.keyHead()
	}
	n += h*(c.KVLoraRank+c.RopeHeadDim) + c.KVLoraRank*c.normWidth()
	return n + c.KVLoraRank*heads*(c.headWidth()+c.valueHead())
}

// latentAttention is the attention block with latents. The narrow projections
// are whole on every tensor-parallel rank, those behind the norms are cut by
// heads.
func (b *Builder) latentAttention(x Value) Value {
	heads := b.Heads / b.TP
	q := x
	if b.QLoraRank > 0 {
		q = b.norm("attn.q_norm", b.linear(matrix{name: "attn.q_down", width: b.QLoraRank, split: replicated}, x))
	}
	q = b.linear(matrix{name: "attn.q_up", width: heads * b.keyHead(), split: column}, q)
	down := b.linear(matrix{name: "attn.kv_down", width: b.KVLoraRank + b.RopeHeadDim, split: replicated}, x)
	latent, position := b.splitLatent(down)
	width := heads * (b.headWidth() + b.valueHead())
	kv := b.linear(matrix{name: "attn.kv_up", width: width, split: column}, b.norm("attn.kv_norm", latent))
	core := func(Value) Value { return b.latentCore(q, kv, position, heads) }
	var ctx Value
	if b.Checkpointing.Selective && b.phase != Recompute {
		ctx = b.checkpoint(q, core)
	} else {
		ctx = core(q)
	}
	return b.linear(matrix{name: "attn.proj", width: b.Hidden, split: row}, ctx)
}

// splitLatent parts the latent of keys and values from the key that carries
// positions. Both are views; their gradients are put side by side.
func (b *Builder) splitLatent(down Value) (latent, position Value) {
	view := func(name string, width int64) Value {
		v := b.Tensor(name, down.Rows, width, b.element())
		b.chunk.Tensors[v.ID].Bytes = 0
		return v
	}
	latent, position = view("attn.latent", b.KVLoraRank), view("attn.position_key", b.RopeHeadDim)
	b.Backward(func() {
		whole := b.like("attn.kv_down.dy", down)
		n := down.Rows * down.Width * b.element()
		b.memory("attn.join_latent_grads", BackwardInput, gpu.Copy, n, n,
			ids(down, b.Gradient(latent), b.Gradient(position)), ids(whole))
		b.SetGradient(down, whole)
	})
	return latent, position
}

// latentCore turns positions, puts keys together and attends (Megatron-Core's
// fused kernels: queries in place, keys and values into tensors of their own).
func (b *Builder) latentCore(q, kv, position Value, heads int64) Value {
	e, width := b.element(), heads*(b.keyHead()+b.valueHead())
	turned := q.Rows * heads * b.RopeHeadDim * e
	b.memory("attn.rope_q", b.phase, gpu.Elementwise, turned, turned, ids(q), nil)
	keys := b.Tensor("attn.keys_values", kv.Rows, width, e)
	read, write := kv.Rows*kv.Width*e, kv.Rows*width*e
	b.memory("attn.rope_kv", b.phase, gpu.Elementwise, read, write, ids(kv, position), ids(keys))
	b.Backward(func() {
		dkv, dposition := b.like("attn.dkv", kv), b.like("attn.dposition", position)
		b.memory("attn.rope_kv.bwd", BackwardInput, gpu.Elementwise, write, read,
			ids(b.Gradient(keys)), ids(dkv, dposition))
		b.memory("attn.rope_q.bwd", BackwardInput, gpu.Elementwise, turned, turned, ids(b.Gradient(q)), nil)
		b.SetGradient(kv, dkv)
		b.SetGradient(position, dposition)
	})
	return b.latentFlash(q, keys, heads)
}

// latentFlash is the fused attention kernel over queries and keys of one width
// and values of another.
func (b *Builder) latentFlash(q, keys Value, heads int64) Value {
	others, token := b.exchangeKeys(keys, heads, b.coreHead(), b.phase)
	ctx := b.Tensor("attn.ctx", q.Rows, heads*b.valueHead(), b.element())
	lse := b.Tensor("attn.lse", q.Rows, heads, 4)
	k := b.attentionKernel(heads, heads, b.coreHead())
	b.kernel("attn.flash", b.phase, k, ids(q, keys), ids(ctx, lse))
	b.joinKeys(others, token, b.phase)
	b.Backward(func() {
		others, token := b.exchangeKeys(keys, heads, b.coreHead(), BackwardInput)
		dq, dkeys := b.like("attn.dq", q), b.like("attn.dkeys_values", keys)
		back := k
		back.Backward = true
		b.kernel("attn.flash.bwd", BackwardInput, back, ids(q, keys, ctx, lse, b.Gradient(ctx)), ids(dq, dkeys))
		b.joinKeys(others, token, BackwardInput)
		b.SetGradient(q, dq)
		b.SetGradient(keys, dkeys)
	})
	return ctx
}
