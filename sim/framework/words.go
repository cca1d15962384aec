package framework

// FlashKernel is a fused attention kernel.
type FlashKernel string

// Fused attention kernels.
const (
	NewestFlash FlashKernel = "newest" // the fastest that the GPU has
	Flash2      FlashKernel = "flash2" // FlashAttention-2, as PyTorch's own
	Flash1      FlashKernel = "flash1" // FlashAttention's first version
)

// Selective is what selective recomputation computes again.
type Selective string

// Kinds of selective recomputation.
const (
	AttentionCore  Selective = "attention" // the attention core
	SecondProducts Selective = "products"  // all but attention and every second product
)

// States is a layout of weights, gradients and optimizer states in memory, below
// FSDP. Empty is PlainStates.
type States string

// Layouts of training state.
const (
	// PlainStates are PyTorch's own: a tensor for each parameter, gradients from
	// the first backward on, in DistributedDataParallel a second copy of them
	// in buckets.
	PlainStates States = "plain"
	// MegatronStates keep all gradients of a chunk in one buffer and, with the
	// distributed optimizer, all its parameters in another.
	MegatronStates States = "megatron"
	// DeepSpeedStates are DeepSpeed's: flat parameters, a flat fp32 partition;
	// 16-bit gradients live beside fp32 ones.
	DeepSpeedStates States = "deepspeed"
)

// Ring is how a ring of keys and values cuts a sequence.
type Ring string

// Cuts of a sequence.
const (
	Zigzag  Ring = "zigzag"   // two pieces a rank, so that all see the same share of the triangle
	InOrder Ring = "in-order" // one piece a rank: the last has the most to do
)

// BackwardPrefetch is when the next unit's parameters are gathered.
type BackwardPrefetch string

// Times of the gather.
const (
	Pre  BackwardPrefetch = "pre"  // beside the present unit
	Post BackwardPrefetch = "post" // behind the scatter of its gradients
)
