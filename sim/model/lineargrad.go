package model

import "trainsim/sim/gpu"

// linearBackward emits the gradients of a linear layer in Megatron's order:
// what the ranks must exchange runs beside the matrix product that does not
// need it.
func (b *Builder) linearBackward(l *linear) {
	cast := b.castGrad(l)
	dy, gathering := b.gatherGrad(l, cast.byRows)
	var again Value
	var gatherToken int32
	if !b.LoRA.On() {
		again, gatherToken = b.regather(l)
	}
	dx := b.like(l.name+".dx", l.full)
	w := b.widen(l.name+".dgrad", BackwardInput, l.width, l.full.Width)
	dgrad := l.precise(b.Spec, b.gemm(l.full.Rows, l.full.Width, l.width, gpu.NN))
	product := Op{Name: l.name + ".dgrad", Phase: BackwardInput, Kernel: dgrad, Reads: append(w, dy.ID),
		Writes: ids(dx)}
	if gathering != 0 {
		product.Pieces = b.TP
	}
	b.Emit(product)
	b.join(l.name+".wait_dy", BackwardInput, gathering, dy)
	b.join(l.name+".wait_gather", BackwardWeight, gatherToken, again)
	scattered, scatterToken := b.scatterGrad(l, dx)
	if !b.LoRA.On() {
		columns := cast.byColumns
		if dy.ID != cast.byRows.ID { // gathered, and turned from rows to columns
			columns = dy
		}
		b.linearGrads(l, again, columns, dx)
	}
	b.join(l.name+".wait_dx", BackwardInput, scatterToken, scattered)
	b.SetGradient(l.x, scattered)
}

// castGrad is the output's gradient as the products read it.
func (b *Builder) castGrad(l *linear) operand {
	dy := b.Gradient(l.out)
	if l.vocabulary {
		return operand{dy, dy}
	}
	return b.quantize(l.name, BackwardInput, dy, 0)
}

// linearGrads emits the gradients of a linear layer's weights and bias.
func (b *Builder) linearGrads(l *linear, again, dy, dx Value) {
	wgrad := l.precise(b.Spec, b.weightGrad(l.width, l.full.Width, l.full.Rows))
	writes := b.keepGrad(b.weightGradTensor(l.matrix, l.full.Width))
	b.kernel(l.name+".wgrad", BackwardWeight, wgrad, ids(again, dy, dx), writes)
	b.addGrad(l.name, l.width*l.full.Width)
	if l.bias {
		b.memory(l.name+".bgrad", BackwardWeight, gpu.Reduction, dy.Rows*dy.Width*b.element(), 0, ids(dy), nil)
	}
}

// gatherGrad makes the whole gradient of a row-parallel layer's output from
// the ranks' parts.
func (b *Builder) gatherGrad(l *linear, part Value) (dy Value, token int32) {
	if l.split != row || !b.SequenceParallel || b.TP == 1 {
		return part, 0
	}
	dy = b.Tensor(l.name+".dy", l.y.Rows, l.y.Width, b.size(part))
	if b.OverlapTP {
		return dy, b.async(l.name+".bwd_all_gather", BackwardInput, b.tpComm(AllGather, dy), ids(part), ids(dy))
	}
	b.collective(l.name+".bwd_all_gather", BackwardInput, b.tpComm(AllGather, dy), ids(part), ids(dy))
	return dy, 0
}

// regather starts collecting the sequence-parallel input once more for the
// weight gradient; only a rank's own part was kept.
func (b *Builder) regather(l *linear) (Value, int32) {
	x := l.in.byColumns
	if !b.gathers(l.split) {
		return x, 0
	}
	again := b.Tensor(l.name+".regathered", l.full.Rows, l.full.Width, b.size(x))
	return again, b.async(l.name+".bwd_regather", BackwardWeight, b.tpComm(AllGather, again), ids(x), ids(again))
}

// scatterGrad starts summing the input's gradient over the TP ranks.
func (b *Builder) scatterGrad(l *linear, dx Value) (Value, int32) {
	if l.split != column || b.TP == 1 {
		return dx, 0
	}
	if !b.SequenceParallel {
		return dx, b.async(l.name+".bwd_all_reduce", BackwardInput, b.tpComm(AllReduce, dx), ids(dx), nil)
	}
	part := b.like(l.name+".dx_part", l.x)
	return part, b.async(l.name+".bwd_reduce_scatter", BackwardInput, b.tpComm(ReduceScatter, dx), ids(dx), ids(part))
}
