package model

import (
	"slices"

	"trainsim/sim/gpu"
)

// embedding looks tokens up in the vocabulary table that the TP ranks share by
// rows, sums over the ranks, and adds positions.
func (b *builder) embedding() value {
	b.layer = "embedding."
	rows := b.tokens()
	n := rows * b.Hidden * b.element()
	words := b.tensor("words", rows, b.Hidden, b.element())
	table := b.paddedVocab() / b.TP * b.Hidden
	b.memory("lookup", b.phase, gpu.Embedding, n, n, nil, ids(words))
	b.addWeights(table, false)
	if b.TieEmbeddings && !b.LoRA.On() {
		b.chunk.EmbeddingParameters = table
	}
	x := b.reduce("lookup", words, row)
	out := b.positions(x)
	layer := b.layer
	b.push(func() {
		if b.LoRA.On() {
			return
		}
		b.layer = layer
		dy := b.grad(out)
		if b.SequenceParallel && b.TP > 1 {
			whole := b.like("dy", words)
			b.collective("bwd_all_gather", BackwardWeight, b.tpComm(AllGather, whole), ids(dy), ids(whole))
			dy = whole
		}
		grad := b.tensor("weight_grad", table, 1, b.element())
		b.memory("zero_wgrad", BackwardWeight, gpu.Copy, 0, table*b.element(), nil, b.keepGrad(ids(grad)))
		b.memory("wgrad", BackwardWeight, gpu.Embedding, n, n, ids(dy, grad), nil)
		if main := table * b.GradDtype.Bytes(); !b.GatherParams { // autograd gives a whole table, which is added
			b.memory("add_grad", BackwardWeight, gpu.Elementwise, table*b.element()+main, main, ids(grad), nil)
		}
	})
	if b.EmbeddingNorm {
		out = b.norm("norm", out)
	}
	return b.dropout("dropout", out)
}

// positions adds learned positions and token types to the embedded tokens.
func (b *builder) positions(x value) value {
	tables := b.TokenTypes * b.Hidden
	if b.Position == Learned {
		tables += max(b.MaxPositions, b.SeqLen) * b.Hidden
	}
	if tables == 0 {
		return x
	}
	b.addWeights(tables, false)
	out := b.like("positions", x)
	n := x.rows * x.width * b.element()
	b.memory("add_positions", b.phase, gpu.Elementwise, 2*n, n, ids(x), ids(out))
	return out
}

// head is the final norm, the projection to the vocabulary and the loss.
func (b *builder) head(x value) {
	b.layer = "head."
	if b.FinalNorm {
		x = b.norm("norm", x)
	}
	if b.HeadTransform {
		x = b.norm("transform.norm", b.pointwise("transform.act", b.linear("transform", x, b.Hidden, replicated, true), b.Hidden, true))
	}
	width := b.paddedVocab() / b.TP
	logits := b.linear("logits", x, width, column, b.HeadBias)
	if b.TieEmbeddings {
		b.tieHead(width)
	}
	b.logits = logits
	b.loss(logits)
}

// metrics computes the cross-entropy again from the kept logits when the
// backward is over: PyTorch's on an fp32 copy, whose log-softmax reads a row for
// its maximum, its sum and its result.
func (b *builder) metrics() {
	if b.LossMetrics == 0 {
		return
	}
	b.push(func() {
		b.layer = "metric."
		elements := b.logits.rows * b.logits.width
		for range b.LossMetrics {
			wide := b.tensor("logits", b.logits.rows, b.logits.width, 4)
			softmax := b.tensor("log_softmax", b.logits.rows, b.logits.width, 4)
			b.memory("cast", BackwardInput, gpu.Copy, elements*b.element(), elements*4, ids(b.logits), ids(wide))
			b.memory("log_softmax", BackwardInput, gpu.CrossEntropy, 3*elements*4, elements*4, ids(wide), ids(softmax))
			b.memory("loss", BackwardInput, gpu.CrossEntropy, b.logits.rows*8, 0, ids(softmax), nil)
		}
	})
}

// tieHead corrects the parameter count: the head's matrix is the embedding's.
// A stage that holds both ends holds it once; a last stage holds a copy.
func (b *builder) tieHead(width int64) {
	table := width * b.Hidden
	switch {
	case !b.chunk.First && b.LoRA.On():
	case !b.chunk.First:
		b.chunk.EmbeddingParameters = table
	case b.LoRA.On():
		b.frozen -= table * b.element()
		b.chunk.Frozen = dropLast(b.chunk.Frozen, table*b.element())
	default:
		b.addParameters(-table)
		b.chunk.Weights = dropLast(b.chunk.Weights, table)
	}
}

// dropLast takes the last n out of the list.
func dropLast(list []int64, n int64) []int64 {
	for at := len(list) - 1; at >= 0; at-- {
		if list[at] == n {
			return slices.Delete(list, at, at+1)
		}
	}
	return list
}

// loss is the cross-entropy in fp32 over the vocabulary's shards. Each pass is
// a kernel of its own: cast, maximum, shift and exponentiate, sum.
func (b *builder) loss(logits value) {
	switch b.Loss {
	case EngineLoss:
		b.engineLoss(logits)
		return
	case FlashLoss:
		b.flashLoss(logits)
		return
	case PlainLoss:
		b.plainLoss(logits)
		return
	}
	elements := logits.rows * logits.width
	n32 := elements * 4
	probs := b.tensor("softmax", logits.rows, logits.width, 4)
	perToken := b.tensor("loss", logits.rows, 3, 4)
	b.memory("loss.cast", b.phase, gpu.Copy, elements*b.element(), n32, ids(logits), ids(probs))
	b.memory("loss.max", b.phase, gpu.CrossEntropy, n32, 0, ids(probs), ids(perToken))
	b.lossReduce("loss.max_all_reduce", perToken)
	b.memory("loss.exp", b.phase, gpu.CrossEntropy, 2*n32, 2*n32, ids(probs), nil)
	b.memory("loss.sum", b.phase, gpu.CrossEntropy, n32, 0, ids(probs, perToken), nil)
	b.lossReduce("loss.sum_all_reduce", perToken)
	b.memory("loss.divide", b.phase, gpu.CrossEntropy, n32, n32, ids(probs, perToken), nil)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dlogits := b.like("dlogits", logits)
		b.memory("loss.bwd", BackwardInput, gpu.CrossEntropy, n32, n32, ids(probs), nil)
		b.memory("loss.bwd_cast", BackwardInput, gpu.Copy, n32, elements*b.element(), ids(probs), ids(dlogits))
		b.setGrad(logits, dlogits)
	})
}

// flashLoss is FlashAttention's cross-entropy: a pass that leaves the logarithm
// of each row's sum, and one in the backward that writes the gradient.
func (b *builder) flashLoss(logits value) {
	n := logits.rows * logits.width * b.element()
	perToken := b.tensor("loss", logits.rows, 2, 4)
	b.memory("loss.sum", b.phase, gpu.CrossEntropy, n, 0, ids(logits), ids(perToken))
	b.lossReduce("loss.all_reduce", perToken)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dlogits := b.like("dlogits", logits)
		b.memory("loss.bwd", BackwardInput, gpu.CrossEntropy, n, n, ids(logits, perToken), ids(dlogits))
		b.setGrad(logits, dlogits)
	})
}

// plainLoss is PyTorch's cross_entropy behind a cast to fp32. Log-softmax goes
// over a row for its maximum and sum and once more for the result; so does its
// backward. The gradient of the likelihood is a tensor of zeros with one entry a
// token.
func (b *builder) plainLoss(logits value) {
	elements := logits.rows * logits.width
	n32 := elements * 4
	wide := b.tensor("float", logits.rows, logits.width, 4)
	b.memory("loss.cast", b.phase, gpu.Copy, elements*b.element(), n32, ids(logits), ids(wide))
	logp := b.tensor("log_softmax", logits.rows, logits.width, 4)
	perToken := b.tensor("loss", logits.rows, 1, 4)
	b.memory("loss.log_softmax", b.phase, gpu.Softmax, 2*n32, n32, ids(wide), ids(logp))
	b.lossReduce("loss.max_all_reduce", perToken)
	b.lossReduce("loss.sum_all_reduce", perToken)
	b.memory("loss.nll", b.phase, gpu.Reduction, logits.rows*4, logits.rows*4, ids(logp), ids(perToken))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dnll := b.tensor("dnll", logits.rows, logits.width, 4)
		b.memory("loss.nll.bwd", BackwardInput, gpu.Copy, 0, n32, ids(logp), ids(dnll))
		dwide := b.tensor("dfloat", logits.rows, logits.width, 4)
		b.memory("loss.log_softmax.bwd", BackwardInput, gpu.Softmax, 3*n32, n32, ids(logp, dnll), ids(dwide))
		dlogits := b.like("dlogits", logits)
		b.memory("loss.cast.bwd", BackwardInput, gpu.Copy, n32, elements*b.element(), ids(dwide), ids(dlogits))
		b.setGrad(logits, dlogits)
	})
}

// engineLoss is the cross-entropy of Transformer Engine's kernels: one pass for
// the maximum and the sum of each row, whose parts the TP ranks exchange, and
// one that replaces the logits by their gradient.
func (b *builder) engineLoss(logits value) {
	n := logits.rows * logits.width * b.element()
	perToken := b.tensor("loss", logits.rows, 3*b.TP, 4)
	b.memory("loss.sum", b.phase, gpu.CrossEntropy, n, 0, ids(logits), ids(perToken))
	if b.TP > 1 {
		c := Comm{Group: TP, Collective: AllGather, Bytes: perToken.rows * perToken.width * 4}
		b.collective("loss.all_gather", b.phase, c, ids(perToken), nil)
	}
	b.memory("loss.gradient", b.phase, gpu.CrossEntropy, n, n, ids(logits, perToken), nil)
	b.push(func() { b.setGrad(logits, logits) })
}

func (b *builder) lossReduce(name string, perToken value) {
	if b.TP > 1 {
		c := Comm{Group: TP, Collective: AllReduce, Bytes: perToken.rows * 4}
		b.collective(name, b.phase, c, ids(perToken), nil)
	}
}
