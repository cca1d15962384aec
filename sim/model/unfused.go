package model

import "trainsim/sim/gpu"

// unfusedCore is attention as separate kernels, with the s x s matrices in memory.
func (b *Builder) unfusedCore(qkv Value, heads, kv, d int64) Value {
	batch, sq, sk := b.Microbatch*heads, b.SeqLen/b.CP, b.SeqLen
	e := b.element()
	scores := b.Tensor("attn.scores", batch*sq, sk, e)
	qk := b.gemm(sq, sk, d, gpu.TN)
	qk.Batch = batch
	b.kernel("attn.qk", b.phase, qk, ids(qkv), ids(scores))
	probs := b.Tensor("attn.probs", batch*sq, sk, e)
	n := batch * sq * sk * e
	b.softmax("attn.softmax", b.phase, n, ids(scores), ids(probs))
	dropped := b.maskProbs(probs)
	ctx := b.Tensor("attn.ctx", qkv.Rows, heads*d, e)
	av := b.gemm(sq, d, sk, gpu.NN)
	av.Batch = batch
	b.kernel("attn.av", b.phase, av, ids(dropped.out, qkv), ids(ctx))
	b.Backward(func() {
		b.unfusedBackward(qkv, probs, ctx, dropped, batch, sq, sk, d)
	})
	return ctx
}

// fusedSoftmax reports whether the fused scale-mask-softmax kernel takes the
// shape: Megatron-LM's handles four matrices a block and rows of up to 16,384.
func (b *Builder) fusedSoftmax() bool {
	return b.Microbatch*(b.Heads/b.TP)%4 == 0 && b.SeqLen <= 16384
}

// softmax turns scores of n bytes into probabilities: one fused kernel, or
// else a cast to fp32, scale, mask, softmax and a cast back.
func (b *Builder) softmax(name string, phase Phase, n int64, reads, writes []TensorID) {
	if b.fusedSoftmax() {
		b.memory(name, phase, gpu.Softmax, n, n, reads, writes)
		return
	}
	n32 := n / b.element() * 4
	b.memory(name+".cast", phase, gpu.Copy, n, n32, reads, nil)
	b.memory(name+".scale", phase, gpu.Elementwise, n32, n32, reads, nil)
	b.memory(name+".mask", phase, gpu.Elementwise, n32, n32, reads, nil)
	b.memory(name, phase, gpu.Softmax, n32, n32, reads, nil)
	b.memory(name+".cast_back", phase, gpu.Copy, n32, n, reads, writes)
}

func (b *Builder) softmaxBackward(name string, n int64, reads, writes []TensorID) {
	if b.fusedSoftmax() {
		b.memory(name, BackwardInput, gpu.Softmax, 2*n, n, reads, writes)
		return
	}
	n32 := n / b.element() * 4
	b.memory(name+".cast", BackwardInput, gpu.Copy, n, n32, reads, nil)
	b.memory(name, BackwardInput, gpu.Softmax, 2*n32, n32, reads, nil)
	b.memory(name+".mask", BackwardInput, gpu.Elementwise, n32, n32, reads, nil)
	b.memory(name+".scale", BackwardInput, gpu.Elementwise, n32, n32, reads, nil)
	b.memory(name+".cast_back", BackwardInput, gpu.Copy, n32, n, reads, writes)
}

// droppedProbs is the attention matrix after dropout, with its mask.
type droppedProbs struct {
	out, mask Value
	kept      bool
}

func (b *Builder) maskProbs(probs Value) droppedProbs {
	if !b.Dropout {
		return droppedProbs{out: probs}
	}
	elements := probs.Rows * probs.Width
	n := elements * b.element()
	out := b.like("attn.dropped", probs)
	mask := b.Tensor("attn.mask", probs.Rows, probs.Width, 1)
	b.memory("attn.dropout", b.phase, gpu.Elementwise, n, n+elements, ids(probs), ids(out, mask))
	return droppedProbs{out: out, mask: mask, kept: true}
}

func (b *Builder) unfusedBackward(qkv, probs, ctx Value, drop droppedProbs, batch, sq, sk, d int64) {
	dctx := b.Gradient(ctx)
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
		b.memory("attn.dropout.bwd", BackwardInput, gpu.Elementwise, n+n/b.element(), n,
			ids(dprobs, drop.mask), ids(masked))
		dprobs = masked
	}
	dscores := b.like("attn.dscores", probs)
	b.softmaxBackward("attn.softmax.bwd", n, ids(dprobs, probs), ids(dscores))
	product("attn.qk.dq", sq, d, sk, gpu.NN, ids(dscores, qkv), nil)
	product("attn.qk.dk", sk, d, sq, gpu.NT, ids(dscores, qkv, dqkv), nil)
	b.SetGradient(qkv, dqkv)
}
