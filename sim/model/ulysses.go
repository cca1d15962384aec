package model

import "trainsim/sim/gpu"

// ulyssesCore is attention under context parallelism by all-to-all (DeepSpeed
// Ulysses, Jacobs et al. 2023, arXiv 2309.14509; cp_comm_type = a2a in
// Megatron-Core): the ranks trade their part of the sequence for a part of the
// heads, attend over the whole sequence, and trade back. The output before the
// last exchange is kept for the attention's backward, the one behind it is the
// projection's input.
func (b *builder) ulyssesCore(qkv value, heads, kv, d int64) value {
	all := b.trade("attn.qkv", b.phase, qkv)
	whole := b.tensor("attn.heads_ctx", qkv.rows, heads*d, b.element())
	lse := b.tensor("attn.lse", qkv.rows, heads, 4)
	k := gpu.Kernel{Kind: gpu.Attention, Batch: b.Microbatch, Heads: heads / b.CP, KVHeads: max(1, kv/b.CP),
		SeqQ: b.SeqLen, SeqK: b.SeqLen, HeadDim: d, Causal: !b.Bidirectional,
		Dropout: b.Dropout, In: b.wide(), Out: b.wide(), FirstGeneration: b.Attention == Flash1, SecondGeneration: b.Attention == Flash2}
	b.kernel("attn.flash", b.phase, k, ids(all), ids(whole, lse))
	ctx := b.trade("attn.ctx", b.phase, whole)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dwhole := b.trade("attn.dctx", BackwardInput, b.grad(ctx))
		dall := b.like("attn.dqkv", all)
		back := k
		back.Backward = true
		b.kernel("attn.flash.bwd", BackwardInput, back, ids(all, whole, lse, dwhole), ids(dall))
		b.setGrad(qkv, b.trade("attn.dqkv_parts", BackwardInput, dall))
	})
	return ctx
}

// trade exchanges v over the context-parallel ranks. The sequence is cut in
// zigzag, so that the pieces are put in order before or behind the exchange.
func (b *builder) trade(name string, phase Phase, v value) value {
	out := b.like(name+".traded", v)
	n := v.rows * v.width * b.element()
	b.collective(name+".all_to_all", phase, Comm{Group: CP, Collective: AllToAll, Bytes: n}, ids(v), ids(out))
	b.memory(name+".reorder", phase, gpu.Copy, n, n, ids(out), nil)
	return out
}
