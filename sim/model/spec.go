package model

import "trainsim/sim/gpu"

// Checkpointing is how activations are recomputed in the backward.
type Checkpointing struct {
	// Selective recomputes the attention core of every layer.
	Selective bool
	// Alternate recomputes all of a layer but its fused attention and every
	// second matrix product, as torchtitan's selective checkpointing does
	// (Liang et al. 2024, arXiv 2410.06511).
	Alternate bool
	// Every keeps only the input of every so many layers and recomputes the
	// rest; 0 keeps everything, 1 is full recomputation.
	Every int
}

// Modules says whose layers the model is made of, which decides what copies
// and additions have kernels of their own. Empty is PlainModules.
type Modules string

// Makers of layers.
const (
	// PlainModules are PyTorch's: products add their biases.
	PlainModules Modules = "plain"
	// MegatronModules are Megatron-LM's own, before Transformer Engine: the
	// query, key and value biases are added behind the product, and attention
	// copies what it wants contiguous.
	MegatronModules Modules = "megatron"
	// EngineModules are Transformer Engine's, which work in place.
	EngineModules Modules = "transformer-engine"
)

// WeightGrads says where a matrix product leaves the gradient of its weights.
// Empty is NewWeightGrads.
type WeightGrads string

// Places of weight gradients.
const (
	// NewWeightGrads are tensors of their own in the format of the weights,
	// which autograd adds to the gradients there are, or makes them.
	NewWeightGrads WeightGrads = "autograd"
	// FusedWeightGrads are added to the fp32 main gradients by the product itself.
	FusedWeightGrads WeightGrads = "fused"
	// StandInWeightGrads are too, and autograd is given a tensor of the
	// weights' shape and format in their place, as Transformer Engine does: one
	// for each distinct shape, made at the first backward and kept.
	StandInWeightGrads WeightGrads = "stand-in"
)

// Spec is a model cut for one rank and one micro-batch.
type Spec struct {
	Config
	TP, CP int64
	// EP is over how many ranks the experts of a layer are spread, ExpertTP over
	// how many each of them is cut: 1 or TP.
	EP, ExpertTP     int64
	SequenceParallel bool
	// TradeHeads exchanges sequence for heads around the attention (all-to-all)
	// instead of passing keys and values around a ring.
	TradeHeads bool
	// CPInOrder cuts the sequence in order for a ring of keys and values, not in
	// zigzag.
	CPInOrder bool
	// OverlapTP cuts sequence-parallel collectives into pieces that run beside
	// the matrix product that needs or makes them (Transformer Engine's
	// userbuffers). Without it only collectives that nothing waits for overlap,
	// as Megatron-LM does in the backward.
	OverlapTP bool
	// SerialTP lets nothing overlap tensor-parallel collectives, not even in the
	// backward: products that start first hold all multiprocessors.
	SerialTP   bool
	Microbatch int64 // sequences
	Precision  gpu.Dtype
	// FP8Weights keeps the layers' matrices in 8 bits, by rows and by columns,
	// instead of copies beside weights of 16 bits.
	FP8Weights    bool
	GradDtype     gpu.Dtype // format in which weight gradients accumulate
	Dropout       bool
	Checkpointing Checkpointing
	// LoRA freezes the model and trains adapters.
	LoRA    LoRA
	Modules Modules
	// Eager runs norms, rotary embeddings and gates operator by operator.
	Eager bool
	// WeightGrads says where the weight gradients of linear layers go.
	WeightGrads WeightGrads
	// AddGrads leaves adding up the weight gradients of micro-batches to a kernel
	// of its own, as autograd does.
	AddGrads bool
	// Loss says which kernels compute the cross-entropy.
	Loss LossKernels
	// LossMetrics is how many times the cross-entropy is computed once more
	// behind a micro-batch's backward, as a metric.
	LossMetrics int
	// KeepOutputs keeps what a stage sends until its backward, as DeepSpeed's
	// pipeline does; Megatron-LM frees it once it is sent.
	KeepOutputs bool
	// ScatterGather sends a TP-th of a hand-off from each rank and collects the
	// whole on arrival over NVLink (Megatron-LM before Megatron-Core, DeepSpeed's
	// partitioned pipeline messages); without it every rank sends the whole, as
	// Megatron-Core does.
	ScatterGather bool
	// GatherParams makes every layer gather its parameters before use in
	// forward and backward and scatter its gradients, over the DP group (FSDP).
	GatherParams bool
	// ReshardAfterForward frees gathered parameters after the forward, so that
	// the backward gathers them again (ZeRO-3); ZeRO-2 keeps them.
	ReshardAfterForward bool
	// GatherLate gathers a unit's parameters in the backward when they are
	// needed, not beside the unit before (FSDP's BACKWARD_POST).
	GatherLate bool
}

// LossKernels names the kernels of the cross-entropy. Empty is UnfusedLoss.
type LossKernels string

// Kernels of the cross-entropy.
const (
	// UnfusedLoss works on one fp32 copy of the logits (Megatron-LM).
	UnfusedLoss LossKernels = "unfused"
	// EngineLoss computes loss and gradient in the forward and overwrites the
	// logits (Transformer Engine).
	EngineLoss LossKernels = "fused"
	// FlashLoss reads the logits in their format and writes the gradient beside
	// them in the backward (FlashAttention's xentropy, not in place).
	FlashLoss LossKernels = "flash"
	// PlainLoss is PyTorch's cross_entropy of an fp32 copy: log-softmax, negative
	// log-likelihood and the gradient of each are tensors of their own.
	PlainLoss LossKernels = "plain"
)

// OfLength returns the same for samples of so many tokens.
func (s *Spec) OfLength(tokens int64) *Spec {
	out := *s
	out.SeqLen = tokens
	return &out
}

// tokens returns the tokens of one micro-batch on one rank of a tensor-parallel
// region: all of the rank's sequence.
func (s *Spec) tokens() int64 { return s.Microbatch * s.SeqLen / s.CP }

// shardTokens returns the tokens that norms and dropouts work on: a TP-th of
// them under sequence parallelism.
func (s *Spec) shardTokens() int64 {
	if s.SequenceParallel {
		return s.tokens() / s.TP
	}
	return s.tokens()
}

// activations is their format, of 16 bits also under FP8, whose recipes leave so
// what is between matrix products, the products' results, attention, router and
// head.
func (s *Spec) activations() gpu.Dtype {
	if s.Precision == gpu.FP8 {
		return gpu.BF16
	}
	return s.Precision
}

// element returns the bytes of one activation element.
func (s *Spec) element() int64 { return s.activations().Bytes() }

// kvHeads returns a rank's key/value heads: at least one, since ranks beyond
// the number of heads hold copies.
func (s *Spec) kvHeads() int64 { return max(1, s.KV()/s.TP) }

// paddedVocab returns the vocabulary as it is laid out over TP ranks.
func (s *Spec) paddedVocab() int64 {
	multiple := max(1, s.VocabMultiple) * s.TP
	return (s.Vocab + multiple - 1) / multiple * multiple
}
