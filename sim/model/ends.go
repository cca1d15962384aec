package model

import "trainsim/sim/gpu"

// embedding looks tokens up in the vocabulary table that the TP ranks share by
// rows, sums over the ranks, and adds positions.
type embedding struct{}

// Input returns nothing: tokens come from the host.
func (embedding) Input(*Spec) (rows, width int64) { return 0, 0 }

// Forward makes the first layer's input.
func (embedding) Forward(b *Builder, _ Value) Value {
	rows := b.tokens()
	n := rows * b.Hidden * b.element()
	words := b.Tensor("words", rows, b.Hidden, b.element())
	table := b.paddedVocab() / b.TP * b.Hidden
	b.memory("lookup", b.phase, gpu.Embedding, n, n, nil, ids(words))
	b.addWeights(table, false)
	if b.TieEmbeddings && !b.LoRA.On() {
		b.chunk.Tied = table
	}
	x := b.reduce("lookup", words, row)
	out := b.positions(x)
	b.Backward(func() {
		if b.LoRA.On() {
			return
		}
		dy := b.Gradient(out)
		if b.SequenceParallel && b.TP > 1 {
			whole := b.like("dy", words)
			b.collective("bwd_all_gather", BackwardWeight, b.tpComm(AllGather, whole), ids(dy), ids(whole))
			dy = whole
		}
		grad := b.Tensor("weight_grad", table, 1, b.element())
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
func (b *Builder) positions(x Value) Value {
	tables := b.TokenTypes * b.Hidden
	if b.Position == Learned {
		tables += max(b.MaxPositions, b.SeqLen) * b.Hidden
	}
	if tables == 0 {
		return x
	}
	b.addWeights(tables, false)
	out := b.like("positions", x)
	n := x.Rows * x.Width * b.element()
	b.memory("add_positions", b.phase, gpu.Elementwise, 2*n, n, ids(x), ids(out))
	return out
}

// head is the final norm, the projection to the vocabulary and the loss.
type head struct{}

// Input returns the shape of the last layer's output.
func (head) Input(s *Spec) (rows, width int64) { return s.shardTokens(), s.Hidden }

// Forward returns its input: nothing reads the loss.
func (head) Forward(b *Builder, x Value) Value {
	if b.FinalNorm {
		x = b.norm("norm", x)
	}
	if b.HeadTransform {
		x = b.linear(matrix{name: "transform", width: b.Hidden, split: replicated, bias: true}, x)
		x = b.norm("transform.norm", b.pointwise("transform.act", x, b.Hidden, true))
	}
	width := b.paddedVocab() / b.TP
	tied := b.TieEmbeddings && b.chunk.Run.Embeds // this rank has the matrix already
	m := matrix{name: "logits", width: width, split: column, bias: b.HeadBias, vocabulary: true, tied: tied}
	logits := b.linear(m, x)
	if b.TieEmbeddings && !b.chunk.Run.Embeds && !b.LoRA.On() {
		b.chunk.Tied = width * b.Hidden // a copy, as the first stage's
	}
	b.loss(logits)
	b.metrics(logits)
	return x
}

// loss is the cross-entropy in fp32 over the vocabulary's shards. Each pass is
// a kernel of its own: cast, maximum, shift and exponentiate, sum.
func (b *Builder) loss(logits Value) {
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
	elements := logits.Rows * logits.Width
	n32 := elements * 4
	probs := b.Tensor("softmax", logits.Rows, logits.Width, 4)
	perToken := b.Tensor("loss", logits.Rows, 3, 4)
	b.memory("loss.cast", b.phase, gpu.Copy, elements*b.element(), n32, ids(logits), ids(probs))
	b.memory("loss.max", b.phase, gpu.CrossEntropy, n32, 0, ids(probs), ids(perToken))
	b.lossReduce("loss.max_all_reduce", perToken)
	b.memory("loss.exp", b.phase, gpu.CrossEntropy, 2*n32, 2*n32, ids(probs), nil)
	b.memory("loss.sum", b.phase, gpu.CrossEntropy, n32, 0, ids(probs, perToken), nil)
	b.lossReduce("loss.sum_all_reduce", perToken)
	b.memory("loss.divide", b.phase, gpu.CrossEntropy, n32, n32, ids(probs, perToken), nil)
	b.Backward(func() {
		dlogits := b.like("dlogits", logits)
		b.memory("loss.bwd", BackwardInput, gpu.CrossEntropy, n32, n32, ids(probs), nil)
		b.memory("loss.bwd_cast", BackwardInput, gpu.Copy, n32, elements*b.element(), ids(probs), ids(dlogits))
		b.SetGradient(logits, dlogits)
	})
}

// flashLoss is FlashAttention's cross-entropy: a pass that leaves the logarithm
// of each row's sum, and one in the backward that writes the gradient.
func (b *Builder) flashLoss(logits Value) {
	n := logits.Rows * logits.Width * b.element()
	perToken := b.Tensor("loss", logits.Rows, 2, 4)
	b.memory("loss.sum", b.phase, gpu.CrossEntropy, n, 0, ids(logits), ids(perToken))
	b.lossReduce("loss.all_reduce", perToken)
	b.Backward(func() {
		dlogits := b.like("dlogits", logits)
		b.memory("loss.bwd", BackwardInput, gpu.CrossEntropy, n, n, ids(logits, perToken), ids(dlogits))
		b.SetGradient(logits, dlogits)
	})
}

// plainLoss is PyTorch's cross_entropy behind a cast to fp32. Log-softmax goes
// over a row for its maximum and sum and once more for the result; so does its
// backward. The gradient of the likelihood is a tensor of zeros with one entry a
// token.
func (b *Builder) plainLoss(logits Value) {
	elements := logits.Rows * logits.Width
	n32 := elements * 4
	float := b.Tensor("float", logits.Rows, logits.Width, 4)
	b.memory("loss.cast", b.phase, gpu.Copy, elements*b.element(), n32, ids(logits), ids(float))
	logp := b.Tensor("log_softmax", logits.Rows, logits.Width, 4)
	perToken := b.Tensor("loss", logits.Rows, 1, 4)
	b.memory("loss.log_softmax", b.phase, gpu.Softmax, 2*n32, n32, ids(float), ids(logp))
	b.lossReduce("loss.max_all_reduce", perToken)
	b.lossReduce("loss.sum_all_reduce", perToken)
	b.memory("loss.nll", b.phase, gpu.Reduction, logits.Rows*4, logits.Rows*4, ids(logp), ids(perToken))
	b.Backward(func() {
		dnll := b.Tensor("dnll", logits.Rows, logits.Width, 4)
		b.memory("loss.nll.bwd", BackwardInput, gpu.Copy, 0, n32, ids(logp), ids(dnll))
		dfloat := b.Tensor("dfloat", logits.Rows, logits.Width, 4)
		b.memory("loss.log_softmax.bwd", BackwardInput, gpu.Softmax, 3*n32, n32, ids(logp, dnll), ids(dfloat))
		dlogits := b.like("dlogits", logits)
		b.memory("loss.cast.bwd", BackwardInput, gpu.Copy, n32, elements*b.element(), ids(dfloat), ids(dlogits))
		b.SetGradient(logits, dlogits)
	})
}

// engineLoss is the cross-entropy of Transformer Engine's kernels: one pass for
// the maximum and the sum of each row, whose parts the TP ranks exchange, and
// one that replaces the logits by their gradient.
func (b *Builder) engineLoss(logits Value) {
	n := logits.Rows * logits.Width * b.element()
	perToken := b.Tensor("loss", logits.Rows, 3*b.TP, 4)
	b.memory("loss.sum", b.phase, gpu.CrossEntropy, n, 0, ids(logits), ids(perToken))
	if b.TP > 1 {
		c := Comm{Group: TP, Collective: AllGather, Bytes: perToken.Rows * perToken.Width * 4}
		b.collective("loss.all_gather", b.phase, c, ids(perToken), nil)
	}
	b.memory("loss.gradient", b.phase, gpu.CrossEntropy, n, n, ids(logits, perToken), nil)
	b.Backward(func() { b.SetGradient(logits, logits) })
}

func (b *Builder) lossReduce(name string, perToken Value) {
	if b.TP > 1 {
		c := Comm{Group: TP, Collective: AllReduce, Bytes: perToken.Rows * 4}
		b.collective(name, b.phase, c, ids(perToken), nil)
	}
}

// metrics computes the cross-entropy again from the kept logits when the
// backward is over: PyTorch's on an fp32 copy, whose log-softmax reads a row for
// its maximum, its sum and its result.
func (b *Builder) metrics(logits Value) {
	b.after = append(b.after, func() {
		b.at = place{prefix: "metric."}
		elements := logits.Rows * logits.Width
		for range b.LossMetrics {
			copied := b.Tensor("logits", logits.Rows, logits.Width, 4)
			softmax := b.Tensor("log_softmax", logits.Rows, logits.Width, 4)
			b.memory("cast", BackwardInput, gpu.Copy, elements*b.element(), elements*4, ids(logits), ids(copied))
			b.memory("log_softmax", BackwardInput, gpu.CrossEntropy, 3*elements*4, elements*4,
				ids(copied), ids(softmax))
			b.memory("loss", BackwardInput, gpu.CrossEntropy, logits.Rows*8, 0, ids(softmax), nil)
		}
	})
}
