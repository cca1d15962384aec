package model

import "trainsim/sim/gpu"

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
