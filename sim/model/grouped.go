package model

import "trainsim/sim/gpu"

// localExperts returns the experts of a rank.
func (b *Builder) localExperts() int64 { return max(1, b.Experts/max(b.EP, 1)) }

// expertLayers are the feed-forward blocks of a rank's experts.
func (b *Builder) expertLayers(x Value) Value {
	ffn := b.expertFFN() / b.ExpertTP
	width := ffn
	if b.MLP.gated() {
		width *= 2
	}
	up := b.grouped("moe.fc1", x, width)
	return b.grouped("moe.fc2", b.activation("moe.act", up, ffn), b.Hidden)
}

// grouped multiplies the rows of each of a rank's experts by a matrix of its
// own (Transformer Engine's GroupedLinear).
func (b *Builder) grouped(name string, x Value, width int64) Value {
	y := b.Tensor(name+".out", x.Rows, width, b.element())
	in := b.quantize(name, b.phase, x, b.localExperts()*width)
	w := b.widen(name, b.phase, b.localExperts()*width, x.Width)
	b.products(name, b.phase, b.gemm(b.rowsEach(x), width, x.Width, gpu.TN), append(w, in.byRows.ID), ids(y))
	for range b.localExperts() {
		b.addExpert(x.Width * width)
	}
	b.Backward(func() {
		b.groupedBackward(name, x, in.byColumns, y)
	})
	return y
}

func (b *Builder) groupedBackward(name string, x, kept, y Value) {
	dy := b.quantize(name, BackwardInput, b.Gradient(y), 0)
	dx := b.like(name+".dx", x)
	w := b.widen(name+".dgrad", BackwardInput, b.localExperts()*y.Width, x.Width)
	dgrad := b.gemm(b.rowsEach(x), x.Width, y.Width, gpu.NN)
	b.products(name+".dgrad", BackwardInput, dgrad, append(w, dy.byRows.ID), ids(dx))
	if !b.LoRA.On() {
		writes := b.weightGradTensor(matrix{name: name, width: y.Width}, x.Width)
		if b.WeightGrads == NewWeightGrads { // one for each expert
			t := &b.chunk.Tensors[writes[0]]
			t.Rows, t.Bytes = t.Rows*b.localExperts(), t.Bytes*b.localExperts()
		}
		wgrad := b.weightGrad(y.Width, x.Width, b.rowsEach(x))
		b.products(name+".wgrad", BackwardWeight, wgrad, ids(kept, dy.byColumns, dx), b.keepGrad(writes))
		b.addGrad(name, b.localExperts()*y.Width*x.Width)
	}
	b.SetGradient(x, dx)
}

// rowsEach returns the tokens of one expert.
func (b *Builder) rowsEach(x Value) int64 {
	return max(1, (x.Rows+b.localExperts()-1)/b.localExperts())
}

// products is a grouped product: as many as the rank has experts, each a launch
// of its own; the framework's operator is one, except where it loops over the
// experts itself.
func (b *Builder) products(name string, phase Phase, k gpu.Kernel, reads, writes []TensorID) {
	k.Batch, k.Launches = b.localExperts(), b.localExperts()
	op := Op{Name: name, Kind: Compute, Phase: phase, Kernel: k, Reads: reads, Writes: writes,
		Loops: int32(b.localExperts())}
	switch {
	case b.Modules == PlainModules:
		op.Launches, op.Loops = op.Loops, 0
	case b.Precision == gpu.FP8: // each expert's rows are cast apart
		op.Loops *= 2
	}
	b.Emit(op)
}

// addExpert counts one expert's matrix.
func (b *Builder) addExpert(n int64) {
	if b.LoRA.On() || !b.expertsApart() {
		b.addWeights(n, true)
		return
	}
	b.AddParameters(n, ByExpert)
}

// permute puts tokens in the order of their experts, a copy for each.
func (b *Builder) permute(name string, x Value, rows int64) Value {
	order := b.Tensor(name+".order", x.Rows, 2*b.Experts+1, 4) // Transformer Engine's row_id_map
	y := b.moveRows(name, x, rows, order)
	if b.ExpertCapacity == 0 { // how many tokens each expert gets is read by the host
		b.Emit(Op{Name: name + ".counts", Kind: HostSync, Phase: b.phase})
	}
	return y
}

// sortExperts brings the rows of each of a rank's experts together, which come
// from every other rank in pieces, and apart again.
func (b *Builder) sortExperts(name string, x Value) Value {
	if b.localExperts() == 1 || b.EP*b.ExpertTP == 1 {
		return x
	}
	return b.moveRows(name, x, x.Rows)
}

// moveRows gathers rows by an index, some of them several times, or sums rows of
// one index. The backward goes the other way, by the same order, which is kept.
func (b *Builder) moveRows(name string, x Value, rows int64, order ...Value) Value {
	y := b.Tensor(name+".out", rows, x.Width, b.element())
	in, out := x.Rows*x.Width*b.element(), rows*x.Width*b.element()
	b.memory(name, b.phase, gpu.Permute, max(in, out), out, ids(x), ids(append(order, y)...))
	b.Backward(func() {
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Permute, max(in, out), in,
			ids(append(order, b.Gradient(y))...), ids(dx))
		b.SetGradient(x, dx)
	})
	return y
}

// exchange is an all-to-all over the expert-parallel ranks, and once more for
// the gradients.
func (b *Builder) exchange(name string, x Value) Value {
	if b.EP == 1 {
		return x
	}
	c := Comm{Group: EP, Collective: AllToAll, Bytes: x.Rows * x.Width * b.element()}
	return b.tradeRows(name, x, x.Rows, c, c)
}

// gatherExperts collects the tokens of the ranks that share experts,
// scatterExperts sums the parts of what the experts made of them.
func (b *Builder) gatherExperts(name string, x Value) Value {
	whole := x
	whole.Rows *= b.ExpertTP
	return b.tradeRows(name, x, whole.Rows, b.tpComm(AllGather, whole), b.tpComm(ReduceScatter, whole))
}

func (b *Builder) scatterExperts(name string, x Value) Value {
	return b.tradeRows(name, x, x.Rows/b.ExpertTP, b.tpComm(ReduceScatter, x), b.tpComm(AllGather, x))
}

// tradeRows is a collective that turns x into so many rows, and the one that
// brings the gradients back.
func (b *Builder) tradeRows(name string, x Value, rows int64, there, back Comm) Value {
	y := b.Tensor(name+".out", rows, x.Width, b.element())
	b.collective(name, b.phase, there, ids(x), ids(y))
	b.Backward(func() {
		dx := b.like(name+".dx", x)
		b.collective(name+".bwd", BackwardInput, back, ids(b.Gradient(y)), ids(dx))
		b.SetGradient(x, dx)
	})
	return y
}
