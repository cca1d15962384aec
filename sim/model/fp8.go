package model

import "trainsim/sim/gpu"

// scaledTensors is how many FP8 tensors a layer has in one direction: inputs
// and weights of its four products, or their gradients.
const scaledTensors = 8

// rescale is what FP8's delayed scaling does when a chunk's layers are through:
// the largest values that were met are shared by all ranks of the stage, which
// Transformer Engine does once for all layers, and become scales (their copies
// side by side, the update of their histories and of the scales).
func (b *Builder) rescale(phase Phase, layers int) {
	if b.Precision != gpu.FP8 || layers == 0 {
		return
	}
	b.at = place{}
	n := int64(layers) * scaledTensors * 4
	b.collective("fp8.amax_all_reduce", phase, Comm{Group: Amax, Collective: AllReduce, Bytes: n}, nil, nil)
	b.launches("fp8.scales", phase, gpu.Copy, rescaleLaunches, rescaleLaunches, n, n, nil, nil)
}

// rescaleLaunches are the kernels of one update.
const rescaleLaunches = 4

// operand is what a product and, later, the gradient of its weights read of an
// input or of an output's gradient: the value itself, or its copies in 8 bits.
// Rows serve the product of their own direction; columns are kept for the weights.
type operand struct{ byRows, byColumns Value }

// quantize is what a linear layer of width outputs (0: its backward) does to v
// before its product. Transformer Engine casts a rank's own part to FP8 by rows
// and by columns, so that collectives carry 8 bits and only the columns stay for
// the backward (its documentation, "Linear Module: End-to-End Walkthrough").
// PyTorch's own FP8 (torchao) keeps the value and casts again. Other precisions take
// v as it is.
func (b *Builder) quantize(name string, phase Phase, v Value, width int64) operand {
	if b.Precision != gpu.FP8 {
		return operand{v, v}
	}
	if width == 0 {
		name += ".dy"
	}
	n := v.Rows * v.Width
	if b.Modules != EngineModules {
		b.memory(name+".cast", phase, gpu.Copy, 2*n, 2*n, ids(v), nil)
		return operand{v, v}
	}
	q := operand{b.Tensor(name+".fp8", v.Rows, v.Width, 1), b.Tensor(name+".fp8_columns", v.Rows, v.Width, 1)}
	read, write := 2*n, 2*n
	if v.ID == b.normed { // the norm's kernel writes 8 bits by rows instead of 16
		read, write = n, n
	}
	writes := append(ids(q.byRows, q.byColumns), b.cachedWeights(name, width, v.Width)...)
	b.memory(name+".cast", phase, gpu.Copy, read, write, ids(v), writes)
	return q
}

// cachedWeights is the copy in 8 bits of a matrix of 16-bit weights, by rows and
// by columns, which Transformer Engine makes for a step's first micro-batch and
// keeps. Weights that are in 8 bits themselves have none.
func (b *Builder) cachedWeights(name string, out, in int64) []TensorID {
	if b.FP8Weights || out == 0 {
		return nil
	}
	w := b.Tensor(name+".fp8_weight", out, in, 2)
	t := &b.chunk.Tensors[w.ID]
	t.Kept, t.Weights = true, true
	return ids(w)
}

// precise gives the head's products 16 bits: FP8 is for the layers.
func (m *matrix) precise(s *Spec, k gpu.Kernel) gpu.Kernel {
	if m.vocabulary {
		k.In = s.activations()
	}
	return k
}
