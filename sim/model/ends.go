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
