package model

import "fmt"

// mlp is the feed-forward block from its norm's output to its own output.
func (b *builder) mlp(x value) value {
	ffn := b.FFN / b.TP
	if b.MLP.Gated() {
		up := b.linear("mlp.fc1", x, 2*ffn, column, b.LinearBias)
		return b.linear("mlp.fc2", b.activation("mlp.act", up, ffn), b.Hidden, row, b.LinearBias)
	}
	up := b.linear("mlp.fc1", x, ffn, column, b.LinearBias)
	return b.linear("mlp.fc2", b.activation("mlp.act", up, ffn), b.Hidden, row, b.LinearBias)
}

// feedForward is the layer's one block, or its experts.
func (b *builder) feedForward(index int, x value) value {
	if b.mixed(int64(index)) {
		return b.experts(x)
	}
	return b.mlp(x)
}

// transformerLayer is one layer of the model.
func (b *builder) transformerLayer(index int, x value) value {
	b.layer = fmt.Sprintf("layer%d.", index)
	if b.ParallelBlock {
		return b.parallelLayer(x)
	}
	a := b.attention(b.norm("norm1", x))
	if b.PostNorms {
		a = b.norm("norm1.post", a)
	}
	x = b.residual("attn.add", a, x)
	m := b.feedForward(index, b.norm("norm2", x))
	if b.PostNorms {
		m = b.norm("norm2.post", m)
	}
	return b.residual("mlp.add", m, x)
}

// parallelLayer feeds attention and MLP from the same input (GPT-NeoX, GPT-J).
func (b *builder) parallelLayer(x value) value {
	n1 := b.norm("norm1", x)
	n2 := n1
	if !b.SharedNorm {
		n2 = b.norm("norm2", x)
	}
	a, m := b.attention(n1), b.mlp(n2)
	return b.residual("mlp.add", m, b.residual("attn.add", a, x))
}

// layers runs count layers from index first on, grouped as Checkpointing says.
func (b *builder) layers(x value, first, count int) value {
	every := b.Checkpointing.Every
	if b.Checkpointing.Alternate {
		every = 1
	}
	if every <= 0 {
		for i := range count {
			x = b.markedLayer(first+i, x)
		}
		return x
	}
	for i := 0; i < count; i += every {
		from, n := first+i, min(every, count-i)
		x = b.checkpoint(x, func(x value) value {
			for j := range n {
				x = b.markedLayer(from+j, x)
			}
			return x
		})
	}
	return x
}

// markedLayer is a layer between the marks that data parallelism needs: where
// its parameters are first read, and where its gradients are complete.
func (b *builder) markedLayer(index int, x value) value {
	return b.marked(int32(index-b.first)+1, func() value { return b.transformerLayer(index, x) })
}

// marked emits ParamsNeeded before what f emits and before its backward, and
// GradsReady behind its backward.
func (b *builder) marked(unit int32, f func() value) value {
	at := len(*b.ops)
	phase := b.phase
	b.emit(Op{Name: "params", Kind: ParamsNeeded, Phase: phase, Unit: unit, Writes: b.gatheredFrom(unit, phase)})
	before, frozen := b.touched, b.frozen
	beforeExperts := b.touchedExperts
	var elements, experts int64
	b.push(func() {
		op := Op{Name: "grads", Kind: GradsReady, Phase: BackwardWeight, Unit: unit, Elements: elements, Experts: experts}
		b.collectGrads(unit, &op)
		b.emit(op)
	})
	out := f()
	elements, experts = b.touched-before, b.touchedExperts-beforeExperts
	frozen = b.frozen - frozen
	(*b.ops)[at].Elements, (*b.ops)[at].Experts, (*b.ops)[at].Frozen = elements, experts, frozen
	b.sizeUnit(unit, elements*b.element()+frozen)
	if phase == Forward {
		b.release(unit)
	}
	b.push(func() {
		b.emit(Op{Name: "params", Kind: ParamsNeeded, Phase: BackwardInput, Unit: unit, Elements: elements, Frozen: frozen, Writes: b.gatheredFrom(unit, BackwardInput)})
	})
	return out
}
