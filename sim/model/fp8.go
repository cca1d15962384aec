package model

import "trainsim/sim/gpu"

// scaledTensors is how many FP8 tensors a layer has in one direction: inputs
// and weights of its four products, or their gradients.
const scaledTensors = 8

// rescale is what FP8's delayed scaling does when a chunk's layers are through:
// the largest values that were met are shared by all ranks of the stage, which
// Transformer Engine does once for all layers, and become scales (their copies
// side by side, the update of their histories and of the scales).
func (b *builder) rescale(phase Phase, layers int) {
	if b.Precision != gpu.FP8 || layers == 0 {
		return
	}
	b.layer = ""
	n := int64(layers) * scaledTensors * 4
	b.collective("fp8.amax_all_reduce", phase, Comm{Group: Amax, Collective: AllReduce, Bytes: n}, nil, nil)
	b.emit(Op{Name: "fp8.scales", Kind: Compute, Phase: phase, Launches: rescaleLaunches,
		Kernel: gpu.Kernel{Kind: gpu.Memory, Class: gpu.Copy, ReadBytes: n, WriteBytes: n, Launches: rescaleLaunches}})
}

// rescaleLaunches are the kernels of one update.
const rescaleLaunches = 4
