package model

// Build returns the chunk of count layers from index first on. The first chunk
// of the model begins with the embedding, the last one ends with the head and
// the loss.
func (s *Spec) Build(first, count int, embeds, ends bool) *Chunk {
	b := newBuilder(s)
	stack := s.stack()
	c := b.chunk
	c.Layers, c.First, c.Last = count, embeds, ends
	b.declareUnits(count)
	var x Value
	if embeds {
		x = b.unit(0, "embedding.", stack.Embedding, x)
	} else {
		x = b.receive(stack.at(first).Input(s))
	}
	b.Backward(func() { b.rescale(BackwardInput, count) })
	x = b.layers(x, &stack, first, count)
	b.rescale(Forward, count)
	c.BoundaryBytes = b.handOff(x)
	if ends {
		b.unit(int32(count)+1, "head.", stack.Head, x)
	} else {
		b.send(x)
	}
	b.ops = &c.Backward
	b.rewind(0)
	for _, f := range b.after {
		f()
	}
	return c
}

// unit is a layer or an end, with the marks that data parallelism needs: where
// its parameters are first read in forward and backward, and where its gradients
// are complete.
func (b *Builder) unit(number int32, name string, l Layer, x Value) Value {
	b.at = place{prefix: name}
	if number > 0 && int(number) <= b.chunk.Layers {
		b.at.layer = number
	}
	at := len(*b.ops)
	phase := b.phase
	b.append(Op{Name: "params", Kind: ParamsNeeded, Phase: phase, Unit: number, Writes: b.gatheredFrom(number, phase)})
	before, frozen := b.touched, b.frozen
	beforeExperts := b.touchedExperts
	var elements, experts int64
	b.Backward(func() {
		op := Op{Name: "grads", Kind: GradsReady, Phase: BackwardWeight, Unit: number,
			Elements: elements, Experts: experts}
		b.collectGrads(number, &op)
		b.append(op)
	})
	out := l.Forward(b, x)
	elements, experts = b.touched-before, b.touchedExperts-beforeExperts
	frozen = b.frozen - frozen
	(*b.ops)[at].Elements, (*b.ops)[at].Experts, (*b.ops)[at].Frozen = elements, experts, frozen
	b.sizeUnit(number, elements*b.element()+frozen)
	if phase == Forward {
		b.release(number)
	}
	b.Backward(func() {
		b.append(Op{Name: "params", Kind: ParamsNeeded, Phase: BackwardInput, Unit: number,
			Elements: elements, Frozen: frozen, Writes: b.gatheredFrom(number, BackwardInput)})
	})
	return out
}

// receive takes the chunk's input from the stage before; the backward sends
// its gradient there.
func (b *Builder) receive(rows, width int64) Value {
	x := b.Tensor("input", rows, width, b.element())
	b.append(Op{Name: "recv_forward", Kind: Receive, Phase: b.phase, Writes: ids(x)})
	b.collect("recv_forward", b.phase, x)
	b.Backward(func() {
		b.append(Op{Name: "send_backward", Kind: Send, Phase: BackwardInput, Reads: ids(b.Gradient(x))})
	})
	return x
}

// send gives the chunk's output to the stage behind; the backward begins with
// its gradient from there.
func (b *Builder) send(x Value) {
	b.append(Op{Name: "send_forward", Kind: Send, Phase: b.phase, Reads: ids(x)})
	var kept []TensorID
	if b.KeepOutputs {
		kept = ids(x)
	}
	b.Backward(func() {
		dx := b.like("output.grad", x)
		b.append(Op{Name: "recv_backward", Kind: Receive, Phase: BackwardInput, Reads: kept, Writes: ids(dx)})
		b.collect("recv_backward", BackwardInput, dx)
		b.grads[x.ID] = dx
	})
}

// handOff returns the bytes of v that one rank sends to the next stage.
func (b *Builder) handOff(v Value) int64 {
	bytes := v.Rows * v.Width * b.element()
	if b.scatters() {
		bytes /= b.TP
	}
	return bytes
}

// scatters reports whether the ranks share hand-offs. Under sequence
// parallelism each rank has its own part anyway.
func (s *Spec) scatters() bool {
	return s.ScatterGather && s.TP > 1 && !s.SequenceParallel
}

// collect makes the whole of a hand-off from the ranks' parts.
func (b *Builder) collect(name string, phase Phase, v Value) {
	if b.scatters() {
		b.collective(name+".all_gather", phase, b.tpComm(AllGather, v), nil, ids(v))
	}
}
