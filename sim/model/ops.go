package model

import "trainsim/sim/gpu"

// norm is a layer or RMS norm over the width of x.
func (b *builder) norm(name string, x value) value {
	if b.Eager && b.Norm == RMSNorm {
		return b.eagerRMSNorm(name, x)
	}
	y := b.like(name+".out", x)
	b.normed = y.id
	stats := int64(2)
	if b.Norm == RMSNorm {
		stats = 1
	}
	st := b.tensor(name+".stats", x.rows, stats, 4)
	n := x.rows * x.width * b.element()
	b.memory(name, b.phase, gpu.Norm, n, n, ids(x), ids(y, st))
	b.addWeights(x.width*stats, false)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dy := b.grad(y)
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Norm, 2*n, n, ids(x, st, dy), ids(dx))
		if !b.LoRA.On() {
			b.memory(name+".dw", BackwardWeight, gpu.Norm, 2*n, 0, ids(x, st, dy), nil)
		}
		b.setGrad(x, dx)
	})
	return y
}

// pointwise is an element-by-element operator: reads and writes are what it
// moves; kept says whether the backward needs its input.
func (b *builder) pointwise(name string, x value, width int64, kept bool) value {
	y := b.tensor(name+".out", x.rows, width, b.element())
	in, out := x.rows*x.width*b.element(), x.rows*width*b.element()
	b.memory(name, b.phase, gpu.Elementwise, in, out, ids(x), ids(y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dy := b.grad(y)
		dx := b.like(name+".dx", x)
		reads, read := ids(dy), out
		if kept {
			reads, read = ids(x, dy), in+out
		}
		b.memory(name+".bwd", BackwardInput, gpu.Elementwise, read, in, reads, ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// sum adds two values.
func (b *builder) sum(name string, y, x value) value {
	out := b.like(name+".out", x)
	n := x.rows * x.width * b.element()
	b.memory(name, b.phase, gpu.Elementwise, 2*n, n, ids(y, x), ids(out))
	b.push(func() {
		dout := b.grad(out)
		b.setGrad(x, dout)
		b.setGrad(y, dout)
	})
	return out
}

// residual adds the block's output y to its input x, after bias and dropout.
func (b *builder) residual(name string, y, x value) value {
	out := b.like(name+".out", x)
	n := x.rows * x.width * b.element()
	writes, write := ids(out), n
	var mask value
	if b.Dropout {
		mask = b.tensor(name+".mask", x.rows, x.width, 1)
		writes, write = ids(out, mask), n+x.rows*x.width
	}
	b.memory(name, b.phase, gpu.Elementwise, 2*n, write, ids(y, x), writes)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dout := b.grad(out)
		b.setGrad(x, dout)
		if !b.Dropout {
			b.setGrad(y, dout)
			return
		}
		dy := b.like(name+".dy", y)
		b.memory(name+".bwd", BackwardInput, gpu.Elementwise, n+x.rows*x.width, n, ids(dout, mask), ids(dy))
		b.setGrad(y, dy)
	})
	return out
}

// dropout drops elements of x, keeping the mask.
func (b *builder) dropout(name string, x value) value {
	if !b.Dropout {
		return x
	}
	y := b.like(name+".out", x)
	elements := x.rows * x.width
	mask := b.tensor(name+".mask", x.rows, x.width, 1)
	n := elements * b.element()
	b.memory(name, b.phase, gpu.Elementwise, n, n+elements, ids(x), ids(y, mask))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Elementwise, n+elements, n, ids(b.grad(y), mask), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

func ids(vs ...value) []TensorID {
	out := make([]TensorID, len(vs))
	for i, v := range vs {
		out[i] = v.id
	}
	return out
}

// addParameters counts a rank's parameters once, not again when recomputing.
func (b *builder) addParameters(n int64) {
	b.touched += n
	if b.phase != Forward {
		return
	}
	b.chunk.Parameters += n
	if n > 0 {
		b.chunk.Weights = append(b.chunk.Weights, n)
	}
}
