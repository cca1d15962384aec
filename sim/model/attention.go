package model

import "trainsim/sim/gpu"

// attention is the block from its norm's output to the projection's output.
func (b *builder) attention(x value) value {
	if b.latent() {
		return b.latentAttention(x)
	}
	heads, kv, d := b.Heads/b.TP, b.kvHeads(), b.Head()
	qkv := b.linear("attn.qkv", x, (heads+2*kv)*d, column, b.QKVBias)
	if b.QKVBias && b.Modules == MegatronModules {
		n := qkv.rows * qkv.width * b.element()
		b.memory("attn.qkv.bias", b.phase, gpu.Elementwise, n, n, ids(qkv), nil)
	}
	core := func(qkv value) value { return b.core(qkv, heads, kv, d) }
	var ctx value
	if b.Checkpointing.Selective && b.phase != Recompute {
		ctx = b.checkpoint(qkv, core)
	} else {
		ctx = core(qkv)
	}
	return b.linear("attn.proj", ctx, b.Hidden, row, b.LinearBias)
}

// unpack hands queries, keys and values to the attention kernels, which want
// them apart: Megatron-LM copies them for the fused kernel, and the backward of
// the split puts their gradients side by side again.
func (b *builder) unpack(qkv value) {
	if b.Modules == EngineModules {
		return
	}
	n := qkv.rows * qkv.width * b.element()
	if b.Modules == MegatronModules && b.Attention != Unfused {
		b.memory("attn.unpack", b.phase, gpu.Copy, n, n, ids(qkv), nil)
	}
	layer := b.layer
	b.push(func() {
		b.layer = layer
		b.memory("attn.pack_grads", BackwardInput, gpu.Copy, n, n, ids(b.grad(qkv)), nil)
	})
}

// rows brings the heads of Megatron-LM's context back to rows of the sequence.
func (b *builder) rows(ctx value) value {
	if b.Modules == MegatronModules {
		n := ctx.rows * ctx.width * b.element()
		b.memory("attn.ctx.rows", b.phase, gpu.Copy, n, n, ids(ctx), nil)
	}
	return ctx
}

// core is everything between the query/key/value projection and the output
// projection: rotary embedding, scores, softmax, dropout and the weighted sum.
func (b *builder) core(qkv value, heads, kv, d int64) value {
	if b.QKNorm {
		qkv = b.pointwise("attn.qk_norm", qkv, qkv.width, true)
		b.addWeights(2*d, false)
	}
	switch {
	case b.Position != Rotary:
	case b.Eager:
		qkv = b.eagerRope(qkv, heads, kv, d)
	default:
		qkv = b.pointwise("attn.rope", qkv, qkv.width, false)
	}
	b.unpack(qkv)
	switch {
	case b.Attention == Unfused:
		return b.rows(b.unfusedCore(qkv, heads, kv, d))
	case b.TradeHeads && b.CP > 1:
		return b.ulyssesCore(qkv, heads, kv, d)
	}
	return b.rows(b.flashCore(qkv, heads, kv, d))
}

func (b *builder) flashCore(qkv value, heads, kv, d int64) value {
	k := b.attentionKernel(heads, kv, d)
	ctx, lse := b.flashForward(k, qkv, heads, kv, d)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		keys, token := b.exchangeKeys(qkv, kv, d, BackwardInput)
		dqkv := b.like("attn.dqkv", qkv)
		back := k
		back.Backward = true
		b.kernel("attn.flash.bwd", BackwardInput, back, ids(qkv, ctx, lse, b.grad(ctx)), ids(dqkv))
		b.joinKeys(keys, token, BackwardInput)
		b.setGrad(qkv, dqkv)
	})
	return ctx
}

// flashForward runs the fused kernel, or takes what an earlier run left.
func (b *builder) flashForward(k gpu.Kernel, qkv value, heads, kv, d int64) (ctx, lse value) {
	if b.savesAttention() && b.phase == Recompute {
		return b.recall(), b.recall()
	}
	keys, token := b.exchangeKeys(qkv, kv, d, b.phase)
	ctx = b.tensor("attn.ctx", qkv.rows, heads*d, b.element())
	lse = b.tensor("attn.lse", qkv.rows, heads, 4)
	b.kernel("attn.flash", b.phase, k, ids(qkv), ids(ctx, lse))
	b.joinKeys(keys, token, b.phase)
	if b.savesAttention() {
		b.save(ctx, lse)
	}
	return ctx, lse
}

// attentionKernel is the fused kernel of one rank. Under context parallelism
// the sequence is cut in zigzag, so that every rank sees the same share of the
// causal triangle: its queries against half of all keys, in one launch for each
// place of the ring. Cut in order, the last rank meets all keys but half of its
// own, and the others wait for it.
func (b *builder) attentionKernel(heads, kv, d int64) gpu.Kernel {
	k := gpu.Kernel{Kind: gpu.Attention, Batch: b.Microbatch, Heads: heads, KVHeads: kv,
		SeqQ: b.SeqLen / b.CP, SeqK: b.SeqLen, HeadDim: d, Causal: !b.Bidirectional,
		Dropout: b.Dropout, In: b.wide(), Out: b.wide(), FirstGeneration: b.Attention == Flash1, SecondGeneration: b.Attention == Flash2}
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
func (b *builder) exchangeKeys(qkv value, kv, d int64, phase Phase) (value, int32) {
	if b.CP == 1 {
		return value{}, 0
	}
	width := 2 * kv * d
	if phase == BackwardInput {
		width *= 2 // their gradients travel too
	}
	keys := b.tensor("attn.ring", 2*qkv.rows, width, b.element())
	c := Comm{Group: CP, Collective: AllGather, Bytes: b.CP * qkv.rows * width * b.element()}
	return keys, b.async("attn.ring_exchange", phase, c, ids(qkv), ids(keys))
}

func (b *builder) joinKeys(keys value, token int32, phase Phase) {
	if token != 0 {
		b.wait("attn.ring_wait", phase, token, keys)
	}
}

// unfusedCore is attention as separate kernels, with the s x s matrices in memory.
func (b *builder) unfusedCore(qkv value, heads, kv, d int64) value {
	batch, sq, sk := b.Microbatch*heads, b.SeqLen/b.CP, b.SeqLen
	e := b.element()
	scores := b.tensor("attn.scores", batch*sq, sk, e)
	qk := b.gemm(sq, sk, d, gpu.TN)
	qk.Batch = batch
	b.kernel("attn.qk", b.phase, qk, ids(qkv), ids(scores))
	probs := b.tensor("attn.probs", batch*sq, sk, e)
	n := batch * sq * sk * e
	b.softmax("attn.softmax", b.phase, n, ids(scores), ids(probs))
	dropped := b.maskProbs(probs)
	ctx := b.tensor("attn.ctx", qkv.rows, heads*d, e)
	av := b.gemm(sq, d, sk, gpu.NN)
	av.Batch = batch
	b.kernel("attn.av", b.phase, av, ids(dropped.out, qkv), ids(ctx))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		b.unfusedBackward(qkv, probs, ctx, dropped, batch, sq, sk, d)
	})
	return ctx
}

// fusedSoftmax reports whether the fused scale-mask-softmax kernel takes the
// shape: Megatron-LM's handles four matrices a block and rows of up to 16,384.
func (b *builder) fusedSoftmax() bool {
	return b.Microbatch*(b.Heads/b.TP)%4 == 0 && b.SeqLen <= 16384
}

// softmax turns scores of n bytes into probabilities: one fused kernel, or
// else a cast to fp32, scale, mask, softmax and a cast back.
func (b *builder) softmax(name string, phase Phase, n int64, reads, writes []TensorID) {
	if b.fusedSoftmax() {
		b.memory(name, phase, gpu.Softmax, n, n, reads, writes)
		return
	}
	wide := n / b.element() * 4
	b.memory(name+".cast", phase, gpu.Copy, n, wide, reads, nil)
	b.memory(name+".scale", phase, gpu.Elementwise, wide, wide, reads, nil)
	b.memory(name+".mask", phase, gpu.Elementwise, wide, wide, reads, nil)
	b.memory(name, phase, gpu.Softmax, wide, wide, reads, nil)
	b.memory(name+".cast_back", phase, gpu.Copy, wide, n, reads, writes)
}

func (b *builder) softmaxBackward(name string, n int64, reads, writes []TensorID) {
	if b.fusedSoftmax() {
		b.memory(name, BackwardInput, gpu.Softmax, 2*n, n, reads, writes)
		return
	}
	wide := n / b.element() * 4
	b.memory(name+".cast", BackwardInput, gpu.Copy, n, wide, reads, nil)
	b.memory(name, BackwardInput, gpu.Softmax, 2*wide, wide, reads, nil)
	b.memory(name+".mask", BackwardInput, gpu.Elementwise, wide, wide, reads, nil)
	b.memory(name+".scale", BackwardInput, gpu.Elementwise, wide, wide, reads, nil)
	b.memory(name+".cast_back", BackwardInput, gpu.Copy, wide, n, reads, writes)
}

// droppedProbs is the attention matrix after dropout, with its mask.
type droppedProbs struct {
	out, mask value
	kept      bool
}

func (b *builder) maskProbs(probs value) droppedProbs {
	if !b.Dropout {
		return droppedProbs{out: probs}
	}
	elements := probs.rows * probs.width
	n := elements * b.element()
	out := b.like("attn.dropped", probs)
	mask := b.tensor("attn.mask", probs.rows, probs.width, 1)
	b.memory("attn.dropout", b.phase, gpu.Elementwise, n, n+elements, ids(probs), ids(out, mask))
	return droppedProbs{out: out, mask: mask, kept: true}
}

func (b *builder) unfusedBackward(qkv, probs, ctx value, drop droppedProbs, batch, sq, sk, d int64) {
	dctx := b.grad(ctx)
	n := batch * sq * sk * b.element()
	product := func(name string, m, nn, k int64, layout gpu.Layout, reads, writes []TensorID) {
		g := b.gemm(m, nn, k, layout)
		g.Batch = batch
		b.kernel(name, BackwardInput, g, reads, writes)
	}
	dqkv := b.like("attn.dqkv", qkv)
	dprobs := b.like("attn.dprobs", probs)
	product("attn.av.dprobs", sq, sk, d, gpu.TN, ids(dctx, qkv), ids(dprobs))
	product("attn.av.dv", sk, d, sq, gpu.NT, ids(dctx, drop.out), ids(dqkv))
	if drop.kept {
		masked := b.like("attn.dmasked", probs)
		b.memory("attn.dropout.bwd", BackwardInput, gpu.Elementwise, n+n/b.element(), n, ids(dprobs, drop.mask), ids(masked))
		dprobs = masked
	}
	dscores := b.like("attn.dscores", probs)
	b.softmaxBackward("attn.softmax.bwd", n, ids(dprobs, probs), ids(dscores))
	product("attn.qk.dq", sq, d, sk, gpu.NN, ids(dscores, qkv), nil)
	product("attn.qk.dk", sk, d, sq, gpu.NT, ids(dscores, qkv, dqkv), nil)
	b.setGrad(qkv, dqkv)
}
