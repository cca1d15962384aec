package model

import (
	"fmt"

	"trainsim/sim/gpu"
)

// value is an intermediate result: its tensor and the rows and width that it has.
type value struct {
	id    TensorID
	rows  int64
	width int64
}

// entry is one step of the tape: backward emits the operators that turn the
// gradients of its outputs into those of its inputs.
type entry func()

// builder emits the operators of a chunk. Forward methods append operators and
// a tape entry; backward replays the tape in reverse.
type builder struct {
	*Spec
	chunk    *Chunk
	ops      *[]Op // where operators go now
	phase    Phase // of forward operators: Forward or Recompute
	tape     []entry
	grads    map[TensorID]value // gradient of a tensor, once known
	tokens32 int32
	touched  int64 // trainable parameters met so far, recomputation included
	frozen   int64 // bytes of frozen ones
	// touchedExperts are those of experts that other ranks than the rest share.
	touchedExperts int64
	logits         value    // of the head
	normed         TensorID // what the last norm wrote
	layer          string
	first          int // index of the chunk's first layer
	kept           kept
	sharded        sharded
}

func newBuilder(s *Spec) *builder {
	b := &builder{Spec: s, chunk: &Chunk{}, grads: make(map[TensorID]value)}
	b.ops = &b.chunk.Forward
	return b
}

// tensor declares an allocation of rows x width elements of size bytes.
func (b *builder) tensor(name string, rows, width, size int64) value {
	b.chunk.Tensors = append(b.chunk.Tensors, Tensor{Name: b.layer + name, Bytes: rows * width * size, Rows: rows, Width: width, Element: size})
	return value{TensorID(len(b.chunk.Tensors) - 1), rows, width}
}

// size returns the bytes of an element of v.
func (b *builder) size(v value) int64 { return b.chunk.Tensors[v.id].Element }

// like declares an activation of the shape of v.
func (b *builder) like(name string, v value) value {
	return b.tensor(name, v.rows, v.width, b.element())
}

func (b *builder) emit(op Op) { *b.ops = append(*b.ops, op) }

// kernel emits a compute operator.
func (b *builder) kernel(name string, phase Phase, k gpu.Kernel, reads, writes []TensorID) {
	b.emit(Op{Name: b.layer + name, Kind: Compute, Phase: phase, Kernel: k, Reads: reads, Writes: writes})
}

// memory emits a memory-bound compute operator.
func (b *builder) memory(name string, phase Phase, class gpu.Class, read, write int64, reads, writes []TensorID) {
	b.kernel(name, phase, gpu.Kernel{Kind: gpu.Memory, Class: class, ReadBytes: read, WriteBytes: write}, reads, writes)
}

// collective emits a blocking collective.
func (b *builder) collective(name string, phase Phase, c Comm, reads, writes []TensorID) {
	b.emit(Op{Name: b.layer + name, Kind: Communicate, Phase: phase, Comm: c, Reads: reads, Writes: writes})
}

// async emits a collective that overlaps what follows and returns its token.
func (b *builder) async(name string, phase Phase, c Comm, reads, writes []TensorID) int32 {
	if c.Group == TP && b.SerialTP {
		b.collective(name, phase, c, reads, writes)
		return 0
	}
	b.tokens32++
	b.emit(Op{Name: b.layer + name, Kind: Communicate, Phase: phase, Async: true, Token: b.tokens32, Comm: c, Reads: reads, Writes: writes})
	return b.tokens32
}

// wait joins an asynchronous collective whose result is v.
func (b *builder) wait(name string, phase Phase, token int32, v value) {
	b.emit(Op{Name: b.layer + name, Kind: Wait, Phase: phase, Token: token, Reads: []TensorID{v.id}})
}

// push records how to go back through what was just emitted.
func (b *builder) push(e entry) { b.tape = append(b.tape, e) }

// rewind runs the tape backwards, down to mark.
func (b *builder) rewind(mark int) {
	for i := len(b.tape) - 1; i >= mark; i-- {
		b.tape[i]()
	}
	b.tape = b.tape[:mark]
}

// grad returns the gradient of v, which must be known by now.
func (b *builder) grad(v value) value {
	g, ok := b.grads[v.id]
	if !ok {
		panic(fmt.Sprintf("model: no gradient for %s", b.chunk.Tensors[v.id].Name))
	}
	return g
}

// setGrad gives v the gradient g. A second gradient of the same tensor is
// added to the first by a kernel of its own, as autograd does.
func (b *builder) setGrad(v, g value) {
	old, ok := b.grads[v.id]
	if !ok {
		b.grads[v.id] = g
		return
	}
	sum := b.like("grad_sum", g)
	n := g.rows * g.width * b.element()
	b.memory("grad_add", BackwardInput, gpu.Elementwise, 2*n, n, []TensorID{old.id, g.id}, []TensorID{sum.id})
	b.grads[v.id] = sum
}

// checkpoint runs f without keeping what it saves for the backward; the
// backward runs f again from its input and goes back through that.
func (b *builder) checkpoint(x value, f func(value) value) value {
	mark := len(b.tape)
	b.kept = kept{}
	out := f(x)
	results := b.kept.values
	b.tape = b.tape[:mark]
	b.push(func() {
		outer, layer := b.phase, b.layer
		b.phase = Recompute
		b.kept = kept{values: results}
		mark := len(b.tape)
		again := f(x)
		b.phase = outer
		b.grads[again.id] = b.grad(out)
		b.rewind(mark)
		b.layer = layer
	})
	return out
}
