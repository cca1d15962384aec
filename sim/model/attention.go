package model

import "trainsim/sim/gpu"

// attention is the block from its norm's output to the projection's output.
func (b *Builder) attention(x Value) Value {
	if b.latent() {
		return b.latentAttention(x)
	}
	heads, kv, d := b.Heads/b.TP, b.kvHeads(), b.headWidth()
	qkv := b.linear(matrix{name: "attn.qkv", width: (heads + 2*kv) * d, split: column, bias: b.QKVBias}, x)
	if b.QKVBias && b.Modules == MegatronModules {
		n := qkv.Rows * qkv.Width * b.element()
		b.memory("attn.qkv.bias", b.phase, gpu.Elementwise, n, n, ids(qkv), nil)
	}
	core := func(qkv Value) Value { return b.core(qkv, heads, kv, d) }
	var ctx Value
	if b.Checkpointing.Selective && b.phase != Recompute {
		ctx = b.checkpoint(qkv, core)
	} else {
		ctx = core(qkv)
	}
	return b.linear(matrix{name: "attn.proj", width: b.Hidden, split: row, bias: b.LinearBias}, ctx)
}

// unpack hands queries, keys and values to the attention kernels, which want
// them apart: Megatron-LM copies them for the fused kernel, and the backward of
// the split puts their gradients side by side again.
func (b *Builder) unpack(qkv Value) {
	if b.Modules == EngineModules {
		return
	}
	n := qkv.Rows * qkv.Width * b.element()
	if b.Modules == MegatronModules && b.Attention != Unfused {
		b.memory("attn.unpack", b.phase, gpu.Copy, n, n, ids(qkv), nil)
	}
	b.Backward(func() {
		b.memory("attn.pack_grads", BackwardInput, gpu.Copy, n, n, ids(b.Gradient(qkv)), nil)
	})
}

// contextRows brings the heads of Megatron-LM's context back to rows of the sequence.
func (b *Builder) contextRows(ctx Value) Value {
	if b.Modules == MegatronModules {
		n := ctx.Rows * ctx.Width * b.element()
		b.memory("attn.ctx.rows", b.phase, gpu.Copy, n, n, ids(ctx), nil)
	}
	return ctx
}

// core is everything between the query/key/value projection and the output
// projection: rotary embedding, scores, softmax, dropout and the weighted sum.
func (b *Builder) core(qkv Value, heads, kv, d int64) Value {
	if b.QKNorm {
		qkv = b.pointwise("attn.qk_norm", qkv, qkv.Width, true)
		b.addWeights(2*d, false)
	}
	switch {
	case b.Position != Rotary:
	case b.Eager:
		qkv = b.eagerRope(qkv, heads, kv, d)
	default:
		qkv = b.pointwise("attn.rope", qkv, qkv.Width, false)
	}
	b.unpack(qkv)
	switch {
	case b.Attention == Unfused:
		return b.contextRows(b.unfusedCore(qkv, heads, kv, d))
	case b.TradeHeads && b.CP > 1:
		return b.ulyssesCore(qkv, heads, kv, d)
	}
	return b.contextRows(b.flashCore(qkv, heads, kv, d))
}

func (b *Builder) flashCore(qkv Value, heads, kv, d int64) Value {
	k := b.attentionKernel(heads, kv, d)
	ctx, lse := b.flashForward(k, qkv, heads, kv, d)
	b.Backward(func() {
		keys, token := b.exchangeKeys(qkv, kv, d, BackwardInput)
		dqkv := b.like("attn.dqkv", qkv)
		back := k
		back.Backward = true
		b.kernel("attn.flash.bwd", BackwardInput, back, ids(qkv, ctx, lse, b.Gradient(ctx)), ids(dqkv))
		b.joinKeys(keys, token, BackwardInput)
		b.SetGradient(qkv, dqkv)
	})
	return ctx
}

// flashForward runs the fused kernel, or takes what an earlier run left.
func (b *Builder) flashForward(k gpu.Kernel, qkv Value, heads, kv, d int64) (ctx, lse Value) {
	if b.savesAttention() && b.phase == Recompute {
		return b.recall(), b.recall()
	}
	keys, token := b.exchangeKeys(qkv, kv, d, b.phase)
	ctx = b.Tensor("attn.ctx", qkv.Rows, heads*d, b.element())
	lse = b.Tensor("attn.lse", qkv.Rows, heads, 4)
	b.kernel("attn.flash", b.phase, k, ids(qkv), ids(ctx, lse))
	b.joinKeys(keys, token, b.phase)
	if b.savesAttention() {
		b.save(ctx, lse)
	}
	return ctx, lse
}

// fused is the fused kernel over the sequence that a rank has queries of, and
// over that of its keys.
func (b *Builder) fused(heads, kv, seqQ, seqK, d int64) gpu.Kernel {
	return gpu.Kernel{
		Kind: gpu.Attention, Batch: b.Microbatch, Heads: heads, KVHeads: kv, SeqQ: seqQ, SeqK: seqK, HeadDim: d,
		Causal: !b.Bidirectional, Dropout: b.Dropout, In: b.activations(), Out: b.activations(),
		FirstGeneration: b.Attention == Flash1, SecondGeneration: b.Attention == Flash2,
	}
}

// attentionKernel is the fused kernel of one rank. Under context parallelism
// the sequence is cut in zigzag, so that every rank sees the same share of the
// causal triangle: its queries against half of all keys, in one launch for each
// place of the ring. Cut in order, the last rank meets all keys but half of its
// own, and the others wait for it.
func (b *Builder) attentionKernel(heads, kv, d int64) gpu.Kernel {
	k := b.fused(heads, kv, b.SeqLen/b.CP, b.SeqLen, d)
	if b.CP > 1 && k.Causal {
		k.Causal, k.SeqK, k.Launches = false, b.SeqLen/2, b.CP
		if b.CPInOrder {
			k.SeqK = b.SeqLen - b.SeqLen/b.CP/2
		}
	}
	return k
}

// exchangeKeys starts passing keys and values around the context-parallel
// ring, beside the attention over what is already here.
func (b *Builder) exchangeKeys(qkv Value, kv, d int64, phase Phase) (Value, int32) {
	if b.CP == 1 {
		return Value{}, 0
	}
	width := 2 * kv * d
	if phase == BackwardInput {
		width *= 2 // their gradients travel too
	}
	keys := b.Tensor("attn.ring", 2*qkv.Rows, width, b.element())
	c := Comm{Group: CP, Collective: AllGather, Bytes: b.CP * qkv.Rows * width * b.element()}
	return keys, b.async("attn.ring_exchange", phase, c, ids(qkv), ids(keys))
}

func (b *Builder) joinKeys(keys Value, token int32, phase Phase) {
	if token != 0 {
		b.wait("attn.ring_wait", phase, token, keys)
	}
}

// ulyssesCore is attention under context parallelism by all-to-all (DeepSpeed
// Ulysses, Jacobs et al. 2023, arXiv 2309.14509; cp_comm_type = a2a in
// Megatron-Core): the ranks trade their part of the sequence for a part of the
// heads, attend over the whole sequence, and trade back. The output before the
// last exchange is kept for the attention's backward, the one behind it is the
// projection's input.
func (b *Builder) ulyssesCore(qkv Value, heads, kv, d int64) Value {
	all := b.trade("attn.qkv", b.phase, qkv)
	whole := b.Tensor("attn.heads_ctx", qkv.Rows, heads*d, b.element())
	lse := b.Tensor("attn.lse", qkv.Rows, heads, 4)
	k := b.fused(heads/b.CP, max(1, kv/b.CP), b.SeqLen, b.SeqLen, d)
	b.kernel("attn.flash", b.phase, k, ids(all), ids(whole, lse))
	ctx := b.trade("attn.ctx", b.phase, whole)
	b.Backward(func() {
		dwhole := b.trade("attn.dctx", BackwardInput, b.Gradient(ctx))
		dall := b.like("attn.dqkv", all)
		back := k
		back.Backward = true
		b.kernel("attn.flash.bwd", BackwardInput, back, ids(all, whole, lse, dwhole), ids(dall))
		b.SetGradient(qkv, b.trade("attn.dqkv_parts", BackwardInput, dall))
	})
	return ctx
}

// trade exchanges v over the context-parallel ranks. The sequence is cut in
// zigzag, so that the pieces are put in order before or behind the exchange.
func (b *Builder) trade(name string, phase Phase, v Value) Value {
	out := b.like(name+".traded", v)
	n := v.Rows * v.Width * b.element()
	b.collective(name+".all_to_all", phase, Comm{Group: CP, Collective: AllToAll, Bytes: n}, ids(v), ids(out))
	b.memory(name+".reorder", phase, gpu.Copy, n, n, ids(out), nil)
	return out
}
