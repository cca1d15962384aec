package generation

import (
	"slices"

	"trainsim/sim"
)

// Generation is what GPUs of some compute capabilities have in common.
type Generation struct {
	// Name is NVIDIA's name of the architecture, with the chips where an
	// architecture has two sorts, as in "ampere-ga10x". It is the file's name.
	Name string `toml:"-"`
	// Base names the generation whose values stand for what the file leaves out.
	Base string `toml:"base"`
	// ComputeCapabilities are CUDA's numbers of the generation, times ten; 0 is a
	// GPU that nobody named.
	ComputeCapabilities []int `toml:"compute_capabilities"`

	// FP8 says that the tensor cores multiply FP8, for which Transformer Engine
	// is made.
	FP8 bool `toml:"fp8"`
	// CublasWorkspace is the memory that cuBLAS keeps for a stream.
	CublasWorkspace sim.Bytes `toml:"cublas_workspace"`
	// SingleLaunchQueue says that Megatron-LM orders collectives ahead of the
	// products that they overlap by one launch queue
	// (CUDA_DEVICE_MAX_CONNECTIONS=1).
	SingleLaunchQueue bool `toml:"single_launch_queue"`
	// FusedCrossEntropy says that the Transformer Engine of the GPU's time has the
	// fused kernel of the loss.
	FusedCrossEntropy bool `toml:"fused_cross_entropy"`

	NVLink NVLink `toml:"nvlink"`
	NCCL   NCCL   `toml:"nccl"`
}

// NVLink is what the links from GPU to GPU give.
type NVLink struct {
	// Absent says that no card of the generation has any.
	Absent bool `toml:"absent"`
	// LineRate is that of one link in one direction.
	LineRate sim.Bandwidth `toml:"line_rate"`
	// Fit is how NCCL's kernels perform on them.
	Fit Fits `toml:"fit"`
}

// Of returns the generation of a compute capability (times ten): the one that
// lists it, else the one with the nearest number below, else the oldest.
func Of(capability int) *Generation {
	var best *Generation
	nearest := -1
	for _, g := range all() {
		if slices.Contains(g.ComputeCapabilities, capability) {
			return g
		}
		for _, have := range g.ComputeCapabilities {
			if have > 0 && have < capability && have > nearest {
				best, nearest = g, have
			}
		}
	}
	if best == nil {
		return oldest()
	}
	return best
}

// oldest returns the generation of the lowest compute capability.
func oldest() *Generation {
	return slices.MinFunc(all(), func(a, b *Generation) int { return a.first() - b.first() })
}

// first is the lowest compute capability that is a GPU's.
func (g *Generation) first() int {
	return slices.Min(slices.DeleteFunc(slices.Clone(g.ComputeCapabilities), func(cc int) bool { return cc == 0 }))
}
