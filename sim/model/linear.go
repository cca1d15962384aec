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

// matrix is a linear layer's matrix as one rank holds it.
type matrix struct {
	name  string
	width int64 // outputs
	split split
	bias  bool
	// vocabulary marks the head's, which FP8, quantisation and Transformer
	// Engine's modules leave alone.
	vocabulary bool
	// tied marks one that the rank holds for another layer already.
	tied bool
}

// linear is one run of a linear layer.
type linear struct {
	matrix
	x    Value   // its input
	in   operand // what product and weight gradient read of it
	full Value   // the product's input, of all ranks
	y    Value   // the product
	out  Value   // its sum over the ranks
}

// gemm returns the kernel of y[m,n] = x[m,k] w, in the precision of the layers.
func (b *Builder) gemm(m, n, k int64, layout gpu.Layout) gpu.Kernel {
	return gpu.Kernel{Kind: gpu.GEMM, Batch: 1, M: m, N: n, K: k, Layout: layout,
		In: b.Precision, Out: b.activations()}
}

// weightGrad returns the kernel of dW = dy^T x, added to what memory holds
// where the framework lets the product do that.
func (b *Builder) weightGrad(out, in, tokens int64) gpu.Kernel {
	k := b.gemm(out, in, tokens, gpu.NT)
	if b.GatherParams || b.AddGrads {
		return k
	}
	k.Out, k.Accumulate = b.GradDtype, true
	return k
}

// addGrad adds a weight gradient to those of the micro-batches before, where
// that is a kernel of its own.
func (b *Builder) addGrad(name string, elements int64) {
	if b.AddGrads {
		main := elements * b.GradDtype.Bytes()
		b.memory(name+".add_grad", BackwardWeight, gpu.Elementwise, elements*b.element()+main, main, nil, nil)
	}
}

// weightGradTensor declares what the product of a weight gradient writes that
// is not there yet: of a matrix of so many inputs. The head is not one of
// Transformer Engine's modules: its stand-in does not outlive the product.
func (b *Builder) weightGradTensor(m matrix, in int64) []TensorID {
	switch {
	case b.WeightGrads == FusedWeightGrads:
		return nil
	case b.WeightGrads == StandInWeightGrads && !m.vocabulary:
		at := b.at
		b.at = place{}
		v := b.Tensor(fmt.Sprintf("stand_in_grad.%dx%d", m.width, in), m.width, in, b.element())
		b.at = at
		b.chunk.Tensors[v.ID].Kept = true
		return ids(v)
	}
	return ids(b.Tensor(m.name+".weight_grad", m.width, in, b.element()))
}

// linear multiplies x by a matrix.
func (b *Builder) linear(m matrix, x Value) Value {
	l := b.product(m, x)
	if !m.tied {
		b.addWeights(x.Width*m.width, !m.vocabulary)
	}
	if m.bias {
		b.addWeights(m.width, false)
	}
	b.Backward(func() { b.linearBackward(&l) })
	if widths := b.adapters(m.name, m.width); len(widths) > 0 {
		return b.adapted(m.name, x, l.out, widths)
	}
	return l.out
}

// product emits the matrix product with the collectives around it, or takes what
// an earlier run of it left.
func (b *Builder) product(m matrix, x Value) linear {
	saves := b.savesProduct()
	l := linear{matrix: m, x: x, in: operand{x, x}}
	if saves && b.phase == Recompute {
		l.full, l.y, l.out = b.recall(), b.recall(), b.recall()
		return l
	}
	if !m.vocabulary {
		l.in = b.quantize(m.name, b.phase, x, m.width)
	}
	var gathering, scattering int32
	l.full, gathering = b.gather(&l)
	l.y = b.Tensor(m.name+".out", l.full.Rows, m.width, b.element())
	l.out, scattering = b.reduceBeside(m.name, l.y, m.split)
	reads := ids(l.full)
	if !m.vocabulary {
		reads = append(b.widen(m.name, b.phase, m.width, x.Width), reads...)
	}
	product := Op{Name: m.name, Phase: b.phase, Reads: reads, Writes: ids(l.y),
		Kernel: l.precise(b.Spec, b.gemm(l.full.Rows, m.width, x.Width, gpu.TN))}
	switch {
	case gathering != 0:
		product.Pieces = b.TP
	case scattering != 0:
		product.Pieces = scatterPieces
	}
	b.Emit(product)
	b.join(m.name+".wait_gather", b.phase, gathering, l.full)
	if b.join(m.name+".wait_scatter", b.phase, scattering, l.out); scattering == 0 {
		l.out = b.reduce(m.name, l.y, m.split)
	} else {
		b.scatterTail(m.name, l.y, l.out)
	}
	if saves {
		b.save(l.full, l.y, l.out)
	}
	return l
}

// gathers reports whether a column-parallel layer's input is spread over the
// ranks by sequence parallelism.
func (b *Builder) gathers(how split) bool {
	return how == column && b.SequenceParallel && b.TP > 1
}

// gather makes the whole sequence from the ranks' parts. With OverlapTP it goes
// on beside the product that follows, which begins with the rank's own part;
// the token joins it.
func (b *Builder) gather(l *linear) (full Value, token int32) {
	x := l.in.byRows
	if !b.gathers(l.split) {
		return x, 0
	}
	full = b.Tensor(l.name+".gathered", x.Rows*b.TP, x.Width, b.size(x))
	if b.OverlapTP {
		return full, b.async(l.name+".all_gather", b.phase, b.tpComm(AllGather, full), ids(x), ids(full))
	}
	b.collective(l.name+".all_gather", b.phase, b.tpComm(AllGather, full), ids(x), ids(full))
	return full, 0
}

// scatterPieces is into how many pieces a product and its reduce-scatter are cut
// with OverlapTP (num_splits in Transformer Engine's defaults); the last piece of
// the reduce-scatter comes after the product. A product beside an all-gather is
// cut into one for each rank.
const scatterPieces = 4

// reduceBeside starts the pieces of a row-parallel layer's reduce-scatter that
// run beside the product, with OverlapTP. Where nothing may overlap there is one
// piece, behind it.
func (b *Builder) reduceBeside(name string, y Value, how split) (out Value, token int32) {
	if how != row || b.TP == 1 || !b.SequenceParallel || !b.OverlapTP || b.SerialTP {
		return y, 0
	}
	out = b.Tensor(name+".scattered", y.Rows/b.TP, y.Width, b.element())
	c := b.tpComm(ReduceScatter, y)
	c.Bytes -= c.Bytes / scatterPieces
	return out, b.async(name+".reduce_scatter", b.phase, c, nil, ids(out))
}

func (b *Builder) scatterTail(name string, y, out Value) {
	c := b.tpComm(ReduceScatter, y)
	c.Bytes /= scatterPieces
	b.collective(name+".reduce_scatter_tail", b.phase, c, ids(y, out), nil)
}

// join waits for a token, if there is one.
func (b *Builder) join(name string, phase Phase, token int32, v Value) {
	if token != 0 {
		b.wait(name, phase, token, v)
	}
}

// reduce sums the partial results of a row-parallel layer.
func (b *Builder) reduce(name string, y Value, how split) Value {
	if how != row || b.TP == 1 {
		return y
	}
	if !b.SequenceParallel {
		b.collective(name+".all_reduce", b.phase, b.tpComm(AllReduce, y), ids(y), nil)
		return y
	}
	out := b.Tensor(name+".scattered", y.Rows/b.TP, y.Width, b.element())
	b.collective(name+".reduce_scatter", b.phase, b.tpComm(ReduceScatter, y), ids(y), ids(out))
	return out
}

func (b *Builder) tpComm(c Collective, full Value) Comm {
	return Comm{Group: TP, Collective: c, Bytes: full.Rows * full.Width * b.size(full)}
}
