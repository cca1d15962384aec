package framework

import (
	"trainsim/sim"
	"trainsim/sim/model"
)

// Framework is what the software of a training job decides.
type Framework struct {
	// Name is the preset's.
	Name string `toml:"name"`
	// SoftwareDate is when the software is from, as year and month ("2024-06").
	// It selects what a preset says of that time; empty, its usual values.
	SoftwareDate string `toml:"software_date"`

	// Layers says whose layers the model is made of, which decides which copies
	// and additions have kernels of their own.
	Layers model.Modules `toml:"layers"`
	// EagerPointwise runs RMS norms, rotary embeddings and gates operator by
	// operator, each from memory to memory.
	EagerPointwise bool `toml:"eager_pointwise"`
	// FlashKernel is the kernel that attention = "flash" stands for.
	FlashKernel FlashKernel `toml:"flash_kernel"`
	// CrossEntropy is the kernel of the loss that cross_entropy = "auto" stands for.
	CrossEntropy model.LossKernels `toml:"cross_entropy"`
	// LossMetrics is how many metrics compute the cross-entropy once more behind
	// a micro-batch's backward, where training.loss_metrics does not say.
	LossMetrics int `toml:"loss_metrics"`
	// WeightGrads says where products leave the gradients of weights.
	WeightGrads model.WeightGrads `toml:"weight_grads"`
	// AddsGrads leaves adding up the gradients of micro-batches to a kernel of
	// its own, as autograd does.
	AddsGrads bool `toml:"adds_grads"`
	// Selective is what recompute = "selective" computes again.
	Selective Selective `toml:"selective_recompute"`
	// FP8Weights says that weights may be kept and gathered in FP8.
	FP8Weights bool `toml:"fp8_weights"`
	// Experts says that mixtures of experts are modelled.
	Experts bool `toml:"experts"`
	// VocabMultiple times TP is what the vocabulary is padded to, where the model
	// does not say; 1 pads to TP alone.
	VocabMultiple int64 `toml:"vocab_multiple"`

	// States is how weights, gradients and optimizer states are laid out.
	States States `toml:"states"`
	// Context is the least that the CUDA context takes with the libraries of the
	// framework's time; a newer one's is the GPU's own.
	Context sim.Bytes `toml:"context"`
	// EngineWorkspace is a cuBLAS workspace of Transformer Engine's beside
	// PyTorch's.
	EngineWorkspace bool `toml:"engine_workspace"`
	// EagerCommunicators connects rings and trees of every communicator at the
	// start, as NCCL before 2.2x did.
	EagerCommunicators bool `toml:"eager_communicators"`
	// KeepsOutputs keeps what a stage sends until its backward.
	KeepsOutputs bool `toml:"keeps_outputs"`

	// ScatterGather sends a TP-th of a hand-off from each rank and collects the
	// whole on arrival.
	ScatterGather bool `toml:"scatter_gather"`
	// SerialTP lets nothing overlap tensor-parallel collectives in the backward.
	SerialTP bool `toml:"serial_tp"`
	// Ring says how a context-parallel ring of keys and values cuts a sequence.
	Ring Ring `toml:"ring"`
	// RingOnly: context-parallel ranks cannot trade sequence for heads instead
	// unless the job says so.
	RingOnly bool `toml:"ring_only"`
	// BackwardPrefetch is when ZeRO-3 gathers the next unit's parameters in the
	// backward, where the job does not say.
	BackwardPrefetch BackwardPrefetch `toml:"backward_prefetch"`

	Host Host `toml:"host"`
}
