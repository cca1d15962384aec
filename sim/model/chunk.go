package model

// Build returns the chunk of count layers from index first on. The first chunk
// of the model begins with the embedding, the last one ends with the head and
// the loss.
func (s *Spec) Build(first, count int, embeds, ends bool) *Chunk {
	b := newBuilder(s)
	c := b.chunk
	c.Layers, c.First, c.Last = count, embeds, ends
	b.first = first
	b.declareUnits(count)
	rows := s.shardTokens()
	c.BoundaryBytes = rows * s.Hidden * s.element()
	if s.scatters() {
		c.BoundaryBytes /= s.TP
	}

	if ends {
		b.metrics()
	}
	var x value
	if embeds {
		x = b.marked(0, b.embedding)
	} else {
		x = b.receive()
	}
	b.push(func() { b.rescale(BackwardInput, count) })
	x = b.layers(x, first, count)
	b.ops = &c.Forward
	b.rescale(Forward, count)
	if ends {
		b.marked(int32(count)+1, func() value { b.head(x); return x })
	} else {
		b.send(x)
	}
	b.ops = &c.Backward
	b.rewind(0)
	return c
}

// receive takes the chunk's input from the stage before; the backward sends
// its gradient there.
func (b *builder) receive() value {
	x := b.tensor("input", b.shardTokens(), b.Hidden, b.element())
	b.emit(Op{Name: "recv_forward", Kind: Receive, Phase: b.phase, Writes: ids(x)})
	b.collect("recv_forward", b.phase, x)
	b.push(func() {
		b.emit(Op{Name: "send_backward", Kind: Send, Phase: BackwardInput, Reads: ids(b.grad(x))})
	})
	return x
}

// send gives the chunk's output to the stage behind; the backward begins with
// its gradient from there.
func (b *builder) send(x value) {
	b.emit(Op{Name: "send_forward", Kind: Send, Phase: b.phase, Reads: ids(x)})
	var kept []TensorID
	if b.KeepOutputs {
		kept = ids(x)
	}
	b.push(func() {
		dx := b.like("output.grad", x)
		b.emit(Op{Name: "recv_backward", Kind: Receive, Phase: BackwardInput, Reads: kept, Writes: ids(dx)})
		b.collect("recv_backward", BackwardInput, dx)
		b.grads[x.id] = dx
	})
}

// scatters reports whether the ranks share hand-offs. Under sequence
// parallelism each rank has its own part anyway.
func (s *Spec) scatters() bool {
	return s.ScatterGather && s.TP > 1 && !s.SequenceParallel
}

// collect makes the whole of a hand-off from the ranks' parts.
func (b *builder) collect(name string, phase Phase, v value) {
	if b.scatters() {
		b.collective(name+".all_gather", phase, b.tpComm(AllGather, v), nil, ids(v))
	}
}
