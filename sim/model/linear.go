package model

import (
	"fmt"

	"trainsim/sim/gpu"
)

// split says how a linear layer's matrix is cut over the TP ranks.
type split uint8

const (
	column     split = iota // by outputs: the input is whole on every rank
	row                     // by inputs: the outputs are partial sums
	replicated              // not cut
)

// gemm returns the kernel of y[m,n] = x[m,k] w, in the precision of the layers.
func (b *builder) gemm(m, n, k int64, layout gpu.Layout) gpu.Kernel {
	return gpu.Kernel{Kind: gpu.GEMM, Batch: 1, M: m, N: n, K: k, Layout: layout, In: b.Precision, Out: b.wide()}
}

// weightGrad returns the kernel of dW = dy^T x, added to what memory holds
// where the framework lets the product do that.
func (b *builder) weightGrad(out, in, tokens int64) gpu.Kernel {
	k := b.gemm(out, in, tokens, gpu.NT)
	if b.GatherParams || b.AddGrads {
		return k
	}
	k.Out, k.Accumulate = b.GradDtype, true
	return k
}

// addGrad adds a weight gradient to those of the micro-batches before, where
// that is a kernel of its own.
func (b *builder) addGrad(name string, elements int64) {
	if b.AddGrads {
		main := elements * b.GradDtype.Bytes()
		b.memory(name+".add_grad", BackwardWeight, gpu.Elementwise, elements*b.element()+main, main, nil, nil)
	}
}

// weightGradTensor declares what the product of a weight gradient writes that
// is not there yet. The head is not one of Transformer Engine's modules: its
// stand-in does not outlive the product.
func (b *builder) weightGradTensor(name string, out, in int64) []TensorID {
	switch {
	case b.WeightGrads == FusedWeightGrads:
		return nil
	case b.WeightGrads == StandInWeightGrads && name != "logits":
		layer := b.layer
		b.layer = ""
		v := b.tensor(fmt.Sprintf("stand_in_grad.%dx%d", out, in), out, in, b.element())
		b.layer = layer
		b.chunk.Tensors[v.id].Kept = true
		return ids(v)
	}
	return ids(b.tensor(name+".weight_grad", out, in, b.element()))
}

// linear multiplies x by a matrix of width outputs (this rank's share).
func (b *builder) linear(name string, x value, width int64, how split, bias bool) value {
	in, full, y, out := b.product(name, x, width, how)
	b.addWeights(x.width*width, name != "logits")
	if bias {
		b.addWeights(width, false)
	}
	layer := b.layer
	b.push(func() {
		b.layer = layer
		b.linearBackward(name, x, in, full, y, out, how, bias)
	})
	if widths := b.adapters(name, width); len(widths) > 0 {
		return b.adapted(name, x, out, widths)
	}
	return out
}

// product emits the matrix product with the collectives around it, or takes what
// an earlier run of it left.
func (b *builder) product(name string, x value, width int64, how split) (in operand, full, y, out value) {
	saves := b.savesProduct()
	if saves && b.phase == Recompute {
		return operand{x, x}, b.recall(), b.recall(), b.recall()
	}
	in = b.quantize(name, b.phase, x, width)
	full, gathering := b.gather(name, in.rows, how)
	y = b.tensor(name+".out", full.rows, width, b.element())
	out, scattering := b.reduceBeside(name, y, how)
	w := b.widen(name, b.phase, width, x.width)
	b.kernel(name, b.phase, b.precise(name, b.gemm(full.rows, width, x.width, gpu.TN)), append(w, full.id), ids(y))
	b.join(name+".wait_gather", b.phase, gathering, full)
	if b.join(name+".wait_scatter", b.phase, scattering, out); scattering == 0 {
		out = b.reduce(name, y, how)
	} else {
		b.scatterTail(name, y, out)
	}
	if saves {
		b.save(full, y, out)
	}
	return in, full, y, out
}

// gathers reports whether a column-parallel layer's input is spread over the
// ranks by sequence parallelism.
func (b *builder) gathers(how split) bool {
	return how == column && b.SequenceParallel && b.TP > 1
}

// gather makes the whole sequence from the ranks' parts. With OverlapTP it goes
// on beside the product that follows, which begins with the rank's own part;
// the token joins it.
func (b *builder) gather(name string, x value, how split) (full value, token int32) {
	if !b.gathers(how) {
		return x, 0
	}
	full = b.tensor(name+".gathered", x.rows*b.TP, x.width, b.size(x))
	if b.OverlapTP {
		return full, b.async(name+".all_gather", b.phase, b.tpComm(AllGather, full), ids(x), ids(full))
	}
	b.collective(name+".all_gather", b.phase, b.tpComm(AllGather, full), ids(x), ids(full))
	return full, 0
}

// tailShare is the part of an overlapped reduce-scatter that comes after its
// matrix product: the last of four pieces.
const tailShare = 4

// reduceBeside starts the pieces of a row-parallel layer's reduce-scatter that
// run beside the product, with OverlapTP.
func (b *builder) reduceBeside(name string, y value, how split) (out value, token int32) {
	if how != row || b.TP == 1 || !b.SequenceParallel || !b.OverlapTP {
		return y, 0
	}
	out = b.tensor(name+".scattered", y.rows/b.TP, y.width, b.element())
	c := b.tpComm(ReduceScatter, y)
	c.Bytes -= c.Bytes / tailShare
	return out, b.async(name+".reduce_scatter", b.phase, c, nil, ids(out))
}

func (b *builder) scatterTail(name string, y, out value) {
	c := b.tpComm(ReduceScatter, y)
	c.Bytes /= tailShare
	b.collective(name+".reduce_scatter_tail", b.phase, c, ids(y, out), nil)
}

// join waits for a token, if there is one.
func (b *builder) join(name string, phase Phase, token int32, v value) {
	if token != 0 {
		b.wait(name, phase, token, v)
	}
}

// reduce sums the partial results of a row-parallel layer.
func (b *builder) reduce(name string, y value, how split) value {
	if how != row || b.TP == 1 {
		return y
	}
	if !b.SequenceParallel {
		b.collective(name+".all_reduce", b.phase, b.tpComm(AllReduce, y), ids(y), nil)
		return y
	}
	out := b.tensor(name+".scattered", y.rows/b.TP, y.width, b.element())
	b.collective(name+".reduce_scatter", b.phase, b.tpComm(ReduceScatter, y), ids(y), ids(out))
	return out
}

func (b *builder) tpComm(c Collective, full value) Comm {
	return Comm{Group: TP, Collective: c, Bytes: full.rows * full.width * b.size(full)}
}

// linearBackward emits the gradients of a linear layer in Megatron's order:
// what the ranks must exchange runs beside the matrix product that does not
// need it.
func (b *builder) linearBackward(name string, x value, in operand, full, y, out value, how split, bias bool) {
	part := b.grad(out)
	cast := b.quantize(name, BackwardInput, part, 0)
	dy, gathering := b.gatherGrad(name, cast.rows, y, how)
	var again value
	var gatherToken int32
	if !b.LoRA.On() {
		again, gatherToken = b.regather(name, in.columns, full, how)
	}
	dx := b.like(name+".dx", full)
	w := b.widen(name+".dgrad", BackwardInput, y.width, full.width)
	b.kernel(name+".dgrad", BackwardInput, b.precise(name, b.gemm(full.rows, full.width, y.width, gpu.NN)), append(w, dy.id), ids(dx))
	b.join(name+".wait_dy", BackwardInput, gathering, dy)
	b.join(name+".wait_gather", BackwardWeight, gatherToken, again)
	scattered, scatterToken := b.scatterGrad(name, x, dx, how)
	if !b.LoRA.On() {
		columns := cast.columns
		if dy.id != cast.rows.id { // gathered, and turned from rows to columns
			columns = dy
		}
		b.linearGrads(name, full, y, again, columns, dx, bias)
	}
	b.join(name+".wait_dx", BackwardInput, scatterToken, scattered)
	b.setGrad(x, scattered)
}

// linearGrads emits the gradients of a linear layer's weights and bias.
func (b *builder) linearGrads(name string, full, y, again, dy, dx value, bias bool) {
	b.kernel(name+".wgrad", BackwardWeight, b.precise(name, b.weightGrad(y.width, full.width, full.rows)), ids(again, dy, dx), b.keepGrad(b.weightGradTensor(name, y.width, full.width)))
	b.addGrad(name, y.width*full.width)
	if bias {
		b.memory(name+".bgrad", BackwardWeight, gpu.Reduction, dy.rows*dy.width*b.element(), 0, ids(dy), nil)
	}
}

// gatherGrad makes the whole gradient of a row-parallel layer's output from
// the ranks' parts.
func (b *builder) gatherGrad(name string, part, y value, how split) (dy value, token int32) {
	if how != row || !b.SequenceParallel || b.TP == 1 {
		return part, 0
	}
	dy = b.tensor(name+".dy", y.rows, y.width, b.size(part))
	if b.OverlapTP {
		return dy, b.async(name+".bwd_all_gather", BackwardInput, b.tpComm(AllGather, dy), ids(part), ids(dy))
	}
	b.collective(name+".bwd_all_gather", BackwardInput, b.tpComm(AllGather, dy), ids(part), ids(dy))
	return dy, 0
}

// regather starts collecting the sequence-parallel input once more for the
// weight gradient; only a rank's own part was kept.
func (b *builder) regather(name string, x, full value, how split) (value, int32) {
	if !b.gathers(how) {
		return x, 0
	}
	again := b.tensor(name+".regathered", full.rows, full.width, b.size(x))
	token := b.async(name+".bwd_regather", BackwardWeight, b.tpComm(AllGather, again), ids(x), ids(again))
	return again, token
}

// scatterGrad starts summing the input's gradient over the TP ranks.
func (b *builder) scatterGrad(name string, x, dx value, how split) (value, int32) {
	if how != column || b.TP == 1 {
		return dx, 0
	}
	if !b.SequenceParallel {
		return dx, b.async(name+".bwd_all_reduce", BackwardInput, b.tpComm(AllReduce, dx), ids(dx), nil)
	}
	part := b.like(name+".dx_part", x)
	token := b.async(name+".bwd_reduce_scatter", BackwardInput, b.tpComm(ReduceScatter, dx), ids(dx), ids(part))
	return part, token
}
