package model

import "trainsim/sim/gpu"

// Without a compiler PyTorch runs RMS norms, rotary embeddings and gated
// activations operator by operator, each from memory to memory. Bytes below are
// those of an element at each operator, of e bytes in the activations' format
// and 4 in fp32.

// chain emits operators that run one after the other as one: kernels launches,
// of which the host's cost of an operator stands for three.
func (b *builder) chain(name string, phase Phase, class gpu.Class, kernels, read, write int64, reads, writes []TensorID) {
	b.launches(name, phase, class, (kernels+2)/3, kernels, read, write, reads, writes)
}

// launches emits memory-bound kernels in a row as one operator, for which the
// host pays as for a number of operators.
func (b *builder) launches(name string, phase Phase, class gpu.Class, operators, kernels, read, write int64, reads, writes []TensorID) {
	b.emit(Op{Name: b.layer + name, Kind: Compute, Phase: phase, Launches: int32(operators), Reads: reads, Writes: writes,
		Kernel: gpu.Kernel{Kind: gpu.Memory, Class: class, ReadBytes: read, WriteBytes: write, Launches: kernels}})
}

// eagerRMSNorm is torch.nn.RMSNorm before PyTorch 2.9 had a kernel for it, and
// every hand-written one: cast to fp32, square, mean, reciprocal root, scale,
// cast back, weight. The fp32 copy and the scaled values are kept.
func (b *builder) eagerRMSNorm(name string, x value) value {
	n, e := x.rows*x.width, b.element()
	wide := b.tensor(name+".float", x.rows, x.width, 4)
	root := b.tensor(name+".stats", x.rows, 1, 4)
	scaled, y := b.like(name+".scaled", x), b.like(name+".out", x)
	passing := b.tensor(name+".squares", x.rows, x.width, 4)
	b.chain(name, b.phase, gpu.Elementwise, 7, n*(2*e+16), n*(2*e+12), ids(x), ids(wide, root, scaled, y, passing))
	b.addWeights(x.width, false)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dy, dx := b.grad(y), b.like(name+".dx", x)
		grads := b.tensor(name+".dfloat", x.rows, x.width, 8) // two in fp32
		b.chain(name+".bwd", BackwardInput, gpu.Elementwise, 9, n*(2*e+32), n*(2*e+20), ids(wide, root, scaled, dy), ids(dx, grads))
		if !b.LoRA.On() {
			b.chain(name+".dw", BackwardWeight, gpu.Elementwise, 2, n*3*e, n*e, ids(scaled, dy), nil)
		}
		b.setGrad(x, dx)
	})
	return y
}

// eagerRope turns queries and keys in fp32, as complex numbers or in halves:
// cast, turn, cast back, for either.
func (b *builder) eagerRope(qkv value, heads, kv, d int64) value {
	y := b.like("attn.rope.out", qkv)
	n, e := qkv.rows*(heads+kv)*d, b.element()
	b.chain("attn.rope", b.phase, gpu.Elementwise, 6, n*(e+8), n*(e+8), ids(qkv), ids(y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like("attn.rope.dx", qkv)
		b.chain("attn.rope.bwd", BackwardInput, gpu.Elementwise, 6, n*(e+8), n*(e+8), ids(b.grad(y)), ids(dx))
		b.setGrad(qkv, dx)
	})
	return y
}

// eagerGate is the activation of the gate times the other half; what the
// activation gave is kept for the product's backward.
func (b *builder) eagerGate(name string, x value, width int64) value {
	gate, y := b.tensor(name+".gate", x.rows, width, b.element()), b.tensor(name+".out", x.rows, width, b.element())
	n := x.rows * width * b.element()
	b.chain(name, b.phase, gpu.Elementwise, 2, 3*n, 2*n, ids(x), ids(gate, y))
	layer := b.layer
	b.push(func() {
		b.layer = layer
		dx := b.like(name+".dx", x)
		b.chain(name+".bwd", BackwardInput, gpu.Elementwise, 3, 6*n, 3*n, ids(x, gate, b.grad(y)), ids(dx))
		b.setGrad(x, dx)
	})
	return y
}

// activation is what stands between the matrices of a feed-forward block.
func (b *builder) activation(name string, x value, width int64) value {
	if b.Eager && b.MLP.Gated() {
		return b.eagerGate(name, x, width)
	}
	return b.pointwise(name, x, width, true)
}
