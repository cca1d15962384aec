package model

import "trainsim/sim/gpu"

// localExperts returns the experts of a rank.
func (b *builder) localExperts() int64 { return max(1, b.Experts/max(b.EP, 1)) }

// expertLayers are the feed-forward blocks of a rank's experts.
func (b *builder) expertLayers(x value) value {
	ffn := b.expertFFN() / b.ExpertTP
	width := ffn
	if b.MLP.Gated() {
		width *= 2
	}
	up := b.grouped("moe.fc1", x, width)
	return b.grouped("moe.fc2", b.activation("moe.act", up, ffn), b.Hidden)
}

// grouped multiplies the rows of each of a rank's experts by a matrix of its
// own (Transformer Engine's GroupedLinear).
func (b *builder) grouped(name string, x value, width int64) value {
	y := b.tensor(name+".out", x.rows, width, b.element())
	in := b.quantize(name, b.phase, x, b.localExperts()*width)
	w := b.widen(name, b.phase, b.localExperts()*width, x.width)
	b.products(name, b.phase, b.gemm(b.rowsEach(x), width, x.width, gpu.TN), append(w, in.rows.id), ids(y))
	for range b.localExperts() {
		b.addExpert(x.width * width)
	}
	layer := b.layer
	b.push(func() {
		b.layer = layer
		b.groupedBackward(name, x, in.columns, y)
	})
	return y
}

func (b *builder) groupedBackward(name string, x, kept, y value) {
	dy := b.quantize(name, BackwardInput, b.grad(y), 0)
	dx := b.like(name+".dx", x)
	w := b.widen(name+".dgrad", BackwardInput, b.localExperts()*y.width, x.width)
	b.products(name+".dgrad", BackwardInput, b.gemm(b.rowsEach(x), x.width, y.width, gpu.NN), append(w, dy.rows.id), ids(dx))
	if !b.LoRA.On() {
		writes := b.weightGradTensor(name, y.width, x.width)
		if b.WeightGrads == NewWeightGrads { // one for each expert
			t := &b.chunk.Tensors[writes[0]]
			t.Rows, t.Bytes = t.Rows*b.localExperts(), t.Bytes*b.localExperts()
		}
		b.products(name+".wgrad", BackwardWeight, b.weightGrad(y.width, x.width, b.rowsEach(x)), ids(kept, dy.columns, dx), b.keepGrad(writes))
		b.addGrad(name, b.localExperts()*y.width*x.width)
	}
	b.setGrad(x, dx)
}

// rowsEach returns the tokens of one expert.
func (b *builder) rowsEach(x value) int64 {
	return max(1, (x.rows+b.localExperts()-1)/b.localExperts())
}

// products is a grouped product: as many as the rank has experts, each a launch
// of its own; the framework's operator is one, except where it loops over the
// experts itself.
func (b *builder) products(name string, phase Phase, k gpu.Kernel, reads, writes []TensorID) {
	k.Batch, k.Launches = b.localExperts(), b.localExperts()
	op := Op{Name: b.layer + name, Kind: Compute, Phase: phase, Kernel: k, Reads: reads, Writes: writes, Loops: int32(b.localExperts())}
	switch {
	case b.Modules == PlainModules:
		op.Launches, op.Loops = op.Loops, 0
	case b.Precision == gpu.FP8: // each expert's rows are cast apart
		op.Loops *= 2
	}
	b.emit(op)
}

// addExpert counts one expert's matrix.
func (b *builder) addExpert(n int64) {
	if b.LoRA.On() || !b.expertsApart() {
		b.addWeights(n, true)
		return
	}
	b.touchedExperts += n
	if b.phase == Forward {
		b.chunk.Parameters += n
		b.chunk.ExpertParameters += n
		b.chunk.ExpertWeights = append(b.chunk.ExpertWeights, n)
	}
}
