package model

import "trainsim/sim/gpu"

// norm is a layer or RMS norm over the width of x.
func (b *Builder) norm(name string, x Value) Value {
	if b.Eager && b.Norm == RMSNorm {
		return b.eagerRMSNorm(name, x)
	}
	y := b.like(name+".out", x)
	b.normed = y.ID
	stats := int64(2)
	if b.Norm == RMSNorm {
		stats = 1
	}
	st := b.Tensor(name+".stats", x.Rows, stats, 4)
	n := x.Rows * x.Width * b.element()
	b.memory(name, b.phase, gpu.Norm, n, n, ids(x), ids(y, st))
	b.addWeights(x.Width*stats, false)
	b.Backward(func() {
		dy := b.Gradient(y)
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Norm, 2*n, n, ids(x, st, dy), ids(dx))
		if !b.LoRA.On() {
			b.memory(name+".dw", BackwardWeight, gpu.Norm, 2*n, 0, ids(x, st, dy), nil)
		}
		b.SetGradient(x, dx)
	})
	return y
}

// pointwise is an element-by-element operator: reads and writes are what it
// moves; kept says whether the backward needs its input.
func (b *Builder) pointwise(name string, x Value, width int64, kept bool) Value {
	y := b.Tensor(name+".out", x.Rows, width, b.element())
	in, out := x.Rows*x.Width*b.element(), x.Rows*width*b.element()
	b.memory(name, b.phase, gpu.Elementwise, in, out, ids(x), ids(y))
	b.Backward(func() {
		dy := b.Gradient(y)
		dx := b.like(name+".dx", x)
		reads, read := ids(dy), out
		if kept {
			reads, read = ids(x, dy), in+out
		}
		b.memory(name+".bwd", BackwardInput, gpu.Elementwise, read, in, reads, ids(dx))
		b.SetGradient(x, dx)
	})
	return y
}

// sum adds two values.
func (b *Builder) sum(name string, y, x Value) Value {
	out := b.like(name+".out", x)
	n := x.Rows * x.Width * b.element()
	b.memory(name, b.phase, gpu.Elementwise, 2*n, n, ids(y, x), ids(out))
	b.Backward(func() {
		dout := b.Gradient(out)
		b.SetGradient(x, dout)
		b.SetGradient(y, dout)
	})
	return out
}

// residual adds the block's output y to its input x, after bias and dropout.
func (b *Builder) residual(name string, y, x Value) Value {
	out := b.like(name+".out", x)
	n := x.Rows * x.Width * b.element()
	writes, write := ids(out), n
	var mask Value
	if b.Dropout {
		mask = b.Tensor(name+".mask", x.Rows, x.Width, 1)
		writes, write = ids(out, mask), n+x.Rows*x.Width
	}
	b.memory(name, b.phase, gpu.Elementwise, 2*n, write, ids(y, x), writes)
	b.Backward(func() {
		dout := b.Gradient(out)
		b.SetGradient(x, dout)
		if !b.Dropout {
			b.SetGradient(y, dout)
			return
		}
		dy := b.like(name+".dy", y)
		b.memory(name+".bwd", BackwardInput, gpu.Elementwise, n+x.Rows*x.Width, n, ids(dout, mask), ids(dy))
		b.SetGradient(y, dy)
	})
	return out
}

// dropout drops elements of x, keeping the mask.
func (b *Builder) dropout(name string, x Value) Value {
	if !b.Dropout {
		return x
	}
	y := b.like(name+".out", x)
	elements := x.Rows * x.Width
	mask := b.Tensor(name+".mask", x.Rows, x.Width, 1)
	n := elements * b.element()
	b.memory(name, b.phase, gpu.Elementwise, n, n+elements, ids(x), ids(y, mask))
	b.Backward(func() {
		dx := b.like(name+".dx", x)
		b.memory(name+".bwd", BackwardInput, gpu.Elementwise, n+elements, n, ids(b.Gradient(y), mask), ids(dx))
		b.SetGradient(x, dx)
	})
	return y
}

// Without a compiler PyTorch runs RMS norms, rotary embeddings and gated
// activations operator by operator, each from memory to memory. Bytes below are
// those of an element at each operator, of e bytes in the activations' format
// and 4 in fp32.

// chain emits operators that run one after the other as one: kernels launches,
// of which the host's cost of an operator stands for three.
func (b *Builder) chain(name string, phase Phase, class gpu.Class, kernels, read, write int64,
	reads, writes []TensorID,
) {
	b.launches(name, phase, class, (kernels+2)/3, kernels, read, write, reads, writes)
}

// launches emits memory-bound kernels in a row as one operator, for which the
// host pays as for a number of operators.
func (b *Builder) launches(name string, phase Phase, class gpu.Class, operators, kernels, read, write int64,
	reads, writes []TensorID,
) {
	b.Emit(Op{Name: name, Kind: Compute, Phase: phase, Launches: int32(operators), Reads: reads, Writes: writes,
		Kernel: gpu.Kernel{Kind: gpu.Memory, Class: class, ReadBytes: read, WriteBytes: write, Launches: kernels}})
}

// eagerRMSNorm is torch.nn.RMSNorm before PyTorch 2.9 had a kernel for it, and
// every hand-written one: cast to fp32, square, mean, reciprocal root, scale,
// cast back, weight. The fp32 copy and the scaled values are kept.
func (b *Builder) eagerRMSNorm(name string, x Value) Value {
	n, e := x.Rows*x.Width, b.element()
	float := b.Tensor(name+".float", x.Rows, x.Width, 4)
	root := b.Tensor(name+".stats", x.Rows, 1, 4)
	scaled, y := b.like(name+".scaled", x), b.like(name+".out", x)
	passing := b.Tensor(name+".squares", x.Rows, x.Width, 4)
	b.chain(name, b.phase, gpu.Elementwise, 7, n*(2*e+16), n*(2*e+12), ids(x), ids(float, root, scaled, y, passing))
	b.addWeights(x.Width, false)
	b.Backward(func() {
		dy, dx := b.Gradient(y), b.like(name+".dx", x)
		grads := b.Tensor(name+".dfloat", x.Rows, x.Width, 8) // two in fp32
		b.chain(name+".bwd", BackwardInput, gpu.Elementwise, 9, n*(2*e+32), n*(2*e+20),
			ids(float, root, scaled, dy), ids(dx, grads))
		if !b.LoRA.On() {
			b.chain(name+".dw", BackwardWeight, gpu.Elementwise, 2, n*3*e, n*e, ids(scaled, dy), nil)
		}
		b.SetGradient(x, dx)
	})
	return y
}

// eagerRope turns queries and keys in fp32, as complex numbers or in halves:
// cast, turn, cast back, for either.
func (b *Builder) eagerRope(qkv Value, heads, kv, d int64) Value {
	y := b.like("attn.rope.out", qkv)
	n, e := qkv.Rows*(heads+kv)*d, b.element()
	b.chain("attn.rope", b.phase, gpu.Elementwise, 6, n*(e+8), n*(e+8), ids(qkv), ids(y))
	b.Backward(func() {
		dx := b.like("attn.rope.dx", qkv)
		b.chain("attn.rope.bwd", BackwardInput, gpu.Elementwise, 6, n*(e+8), n*(e+8), ids(b.Gradient(y)), ids(dx))
		b.SetGradient(qkv, dx)
	})
	return y
}

// eagerGate is the activation of the gate times the other half; what the
// activation gave is kept for the product's backward.
func (b *Builder) eagerGate(name string, x Value, width int64) Value {
	gate, y := b.Tensor(name+".gate", x.Rows, width, b.element()), b.Tensor(name+".out", x.Rows, width, b.element())
	n := x.Rows * width * b.element()
	b.chain(name, b.phase, gpu.Elementwise, 2, 3*n, 2*n, ids(x), ids(gate, y))
	b.Backward(func() {
		dx := b.like(name+".dx", x)
		b.chain(name+".bwd", BackwardInput, gpu.Elementwise, 3, 6*n, 3*n, ids(x, gate, b.Gradient(y)), ids(dx))
		b.SetGradient(x, dx)
	})
	return y
}

// activation is what stands between the matrices of a feed-forward block.
func (b *Builder) activation(name string, x Value, width int64) Value {
	if b.Eager && b.MLP.gated() {
		return b.eagerGate(name, x, width)
	}
	return b.pointwise(name, x, width, true)
}
