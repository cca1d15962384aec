package model

// Build returns the chunk of a run of layers.
func (s *Spec) Build(r Run) *Chunk {
	b := newBuilder(s)
	stack := s.stack()
	c := b.chunk
	c.Run = r
	b.declareUnits(r.Layers)
	var x Value
	if r.Embeds {
		x = b.unit(0, "embedding.", stack.Embedding, x)
	} else {
		x = b.receive(stack.at(r.First).Input(s))
		c.Input = b.handOff(x)
	}
	b.Backward(func() { b.rescale(BackwardInput, r.Layers) })
	x = b.layers(x, &stack, r)
	b.rescale(Forward, r.Layers)
	if r.Ends {
		b.unit(int32(r.Layers)+1, "head.", stack.Head, x)
	} else {
		b.send(x)
		c.Output = b.handOff(x)
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
	if number > 0 && int(number) <= b.chunk.Run.Layers {
		b.at.layer = number
	}
	at := len(*b.ops)
	phase := b.phase
	b.append(Op{Name: "params", Kind: ParamsNeeded, Phase: phase, Unit: number, Writes: b.gatheredFrom(number, phase)})
	before, frozen := b.touched, b.frozen
	var elements [NumShardings]int64
	b.Backward(func() {
		op := Op{Name: "grads", Kind: GradsReady, Phase: BackwardWeight, Unit: number, Elements: elements}
		b.collectGrads(number, &op)
		b.append(op)
	})
	out := l.Forward(b, x)
	for i := range elements {
		elements[i] = b.touched[i] - before[i]
	}
	frozen = b.frozen - frozen
	(*b.ops)[at].Elements, (*b.ops)[at].Frozen = elements, frozen
	b.sizeUnit(number, elements[Replicated]*b.element()+frozen)
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
