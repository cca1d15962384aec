package model

import "fmt"

// layers runs the chunk's layers, grouped as Checkpointing says.
func (b *Builder) layers(x Value, stack *Stack, r Run) Value {
	every := b.Checkpointing.Every
	if b.Checkpointing.Alternate {
		every = 1
	}
	run := func(from, n int, x Value) Value {
		for i := from; i < from+n; i++ {
			x = b.unit(int32(i)+1, fmt.Sprintf("layer%d.", r.First+i), stack.at(r.First+i), x)
		}
		return x
	}
	if every <= 0 {
		return run(0, r.Layers, x)
	}
	for i := 0; i < r.Layers; i += every {
		x = b.checkpoint(x, func(x Value) Value { return run(i, min(every, r.Layers-i), x) })
	}
	return x
}

// checkpoint runs f without keeping what it saves for the backward; the
// backward runs f again from its input and goes back through that.
func (b *Builder) checkpoint(x Value, f func(Value) Value) Value {
	mark := len(b.tape)
	b.kept = kept{}
	out := f(x)
	results := b.kept.values
	b.tape = b.tape[:mark]
	b.Backward(func() {
		outer := b.phase
		b.phase = Recompute
		b.kept = kept{values: results}
		mark := len(b.tape)
		again := f(x)
		b.phase = outer
		b.grads[again.ID] = b.Gradient(out)
		b.rewind(mark)
	})
	return out
}

// kept is what a layer's forward keeps for its recomputation under alternate
// checkpointing, in order; products counts the matrix products met so far.
type kept struct {
	values   []Value
	products int
}

// savesProduct reports whether the results of the product at hand are kept:
// those of the first of every two.
func (b *Builder) savesProduct() bool {
	if !b.savesAttention() {
		return false
	}
	b.kept.products++
	return b.kept.products%2 == 1
}

// savesAttention reports whether the results of the fused attention are kept.
func (b *Builder) savesAttention() bool {
	return b.Checkpointing.Alternate && (b.phase == Forward || b.phase == Recompute)
}

// save keeps results for the recomputation.
func (b *Builder) save(vs ...Value) { b.kept.values = append(b.kept.values, vs...) }

// recall takes the next saved result.
func (b *Builder) recall() Value {
	v := b.kept.values[0]
	b.kept.values = b.kept.values[1:]
	return v
}
