package model

import (
	"cmp"
	"fmt"

	"trainsim/sim/gpu"
)

// Value is an intermediate result: its tensor and the rows and width that it has.
type Value struct {
	ID    TensorID
	Rows  int64
	Width int64
}

// Builder emits the operators of a chunk. A layer's forward appends operators and
// records on a tape how to go back: each entry of it emits the operators that
// turn the gradients of some outputs into those of their inputs. The backward
// runs the tape in reverse.
type Builder struct {
	*Spec
	chunk    *Chunk
	ops      *[]Op // where operators go now
	phase    Phase // of forward operators: Forward or Recompute
	tape     []func()
	grads    map[TensorID]Value // gradient of a tensor, once known
	tokens32 int32
	touched  [NumShardings]int64 // trainable parameters met so far, recomputation included
	frozen   int64               // bytes of frozen ones
	normed   TensorID            // what the last norm wrote
	at       place
	after    []func() // what follows the backward
	kept     kept
	sharded  sharded
}

// place is where in the model operators and tensors belong.
type place struct {
	prefix string // of their names
	layer  int32  // in the chunk, from 1 on; 0 at the ends
}

func newBuilder(s *Spec) *Builder {
	own := *s
	own.Modules = cmp.Or(own.Modules, PlainModules)
	own.WeightGrads = cmp.Or(own.WeightGrads, NewWeightGrads)
	b := &Builder{Spec: &own, chunk: &Chunk{}, grads: make(map[TensorID]Value)}
	b.ops = &b.chunk.Forward
	return b
}

// Tensor declares an allocation of rows x width elements of size bytes.
func (b *Builder) Tensor(name string, rows, width, size int64) Value {
	b.chunk.Tensors = append(b.chunk.Tensors, Tensor{Name: b.at.prefix + name, Layer: b.at.layer,
		Bytes: rows * width * size, Rows: rows, Width: width, Element: size})
	return Value{TensorID(len(b.chunk.Tensors) - 1), rows, width}
}

// size returns the bytes of an element of v.
func (b *Builder) size(v Value) int64 { return b.chunk.Tensors[v.ID].Element }

// like declares an activation of the shape of v.
func (b *Builder) like(name string, v Value) Value {
	return b.Tensor(name, v.Rows, v.Width, b.element())
}

// append adds an operator as it is.
func (b *Builder) append(op Op) { *b.ops = append(*b.ops, op) }

// kernel emits a compute operator.
func (b *Builder) kernel(name string, phase Phase, k gpu.Kernel, reads, writes []TensorID) {
	b.Emit(Op{Name: name, Kind: Compute, Phase: phase, Kernel: k, Reads: reads, Writes: writes})
}

// memory emits a memory-bound compute operator.
func (b *Builder) memory(name string, phase Phase, class gpu.Class, read, write int64, reads, writes []TensorID) {
	k := gpu.Kernel{Kind: gpu.Memory, Class: class, ReadBytes: read, WriteBytes: write}
	b.kernel(name, phase, k, reads, writes)
}

// collective emits a blocking collective.
func (b *Builder) collective(name string, phase Phase, c Comm, reads, writes []TensorID) {
	b.Emit(Op{Name: name, Kind: Communicate, Phase: phase, Comm: c, Reads: reads, Writes: writes})
}

// async emits a collective that overlaps what follows and returns its token.
func (b *Builder) async(name string, phase Phase, c Comm, reads, writes []TensorID) int32 {
	if c.Group == TP && b.SerialTP {
		b.collective(name, phase, c, reads, writes)
		return 0
	}
	b.tokens32++
	b.Emit(Op{Name: name, Kind: Communicate, Phase: phase, Async: true, Token: b.tokens32, Comm: c,
		Reads: reads, Writes: writes})
	return b.tokens32
}

// wait joins an asynchronous collective whose result is v.
func (b *Builder) wait(name string, phase Phase, token int32, v Value) {
	b.Emit(Op{Name: name, Kind: Wait, Phase: phase, Token: token, Reads: []TensorID{v.ID}})
}

// Backward records how to go back through what was just emitted.
func (b *Builder) Backward(f func()) {
	at := b.at
	b.tape = append(b.tape, func() { b.at = at; f() })
}

// Emit appends an operator of the present layer. In a forward that runs once
// more its phase is Recompute.
func (b *Builder) Emit(op Op) {
	op.Name = b.at.prefix + op.Name
	if op.Phase == Forward {
		op.Phase = b.phase
	}
	b.append(op)
}

// rewind runs the tape backwards, down to mark.
func (b *Builder) rewind(mark int) {
	for i := len(b.tape) - 1; i >= mark; i-- {
		b.tape[i]()
	}
	b.tape = b.tape[:mark]
}

// Gradient returns the gradient of v, which must be known by now.
func (b *Builder) Gradient(v Value) Value {
	g, ok := b.grads[v.ID]
	if !ok {
		panic(fmt.Sprintf("model: no gradient for %s", b.chunk.Tensors[v.ID].Name))
	}
	return g
}

// SetGradient gives v the gradient g. A second gradient of the same tensor is
// added to the first by a kernel of its own, as autograd does.
func (b *Builder) SetGradient(v, g Value) {
	old, ok := b.grads[v.ID]
	if !ok {
		b.grads[v.ID] = g
		return
	}
	sum := b.like("grad_sum", g)
	n := g.Rows * g.Width * b.element()
	b.memory("grad_add", BackwardInput, gpu.Elementwise, 2*n, n, []TensorID{old.ID, g.ID}, []TensorID{sum.ID})
	b.grads[v.ID] = sum
}

// AddParameters counts a trainable parameter tensor of n elements that the rank
// has: once, not again when recomputing.
func (b *Builder) AddParameters(n int64, s Sharding) {
	b.touched[s] += n
	if b.phase == Forward && n > 0 {
		b.chunk.Weights[s] = append(b.chunk.Weights[s], n)
	}
}

func ids(vs ...Value) []TensorID {
	out := make([]TensorID, len(vs))
	for i, v := range vs {
		out[i] = v.ID
	}
	return out
}
