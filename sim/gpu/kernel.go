package gpu

// Dtype is a number format on the device.
type Dtype uint8

// The number formats that training uses.
const (
	FP32 Dtype = iota
	TF32
	FP16
	BF16
	FP8
)

// Bytes returns the size of one element in memory.
func (d Dtype) Bytes() int64 {
	switch d {
	case FP32, TF32:
		return 4
	case FP8:
		return 1
	}
	return 2
}

// Layout says which operand of a GEMM is transposed, as cuBLAS names it for
// the three GEMMs of a linear layer.
type Layout uint8

// The three GEMMs of a linear layer y = x W^T.
const (
	TN Layout = iota // forward: y[M,N] = x[M,K] W[N,K]^T
	NN               // input gradient: dx = dy W
	NT               // weight gradient: dW = dy^T x
)

// Kind selects the cost model of a kernel.
type Kind uint8

// The kinds of kernel.
const (
	// GEMM is a (batched) matrix product: Batch x [M,K] x [K,N].
	GEMM Kind = iota
	// Attention is a fused (FlashAttention-style) attention kernel.
	Attention
	// Memory is a kernel bound by memory traffic: ReadBytes + WriteBytes.
	Memory
	// Collective arithmetic and copies are timed by the interconnect.
)

// Class names a memory-bound kernel's access pattern, which decides the share
// of the memory bandwidth that it reaches.
type Class uint8

// Classes of memory-bound kernels.
const (
	Elementwise  Class = iota // bias, GELU, SwiGLU, dropout, residual add, rotary
	Norm                      // layer norm, RMS norm (row reductions)
	Softmax                   // masked softmax over score rows
	CrossEntropy              // loss over the vocabulary
	Embedding                 // gather forward, scatter-add backward
	Copy                      // casts, transposes, gradient accumulation, memset
	Optimizer                 // multi-tensor Adam and friends
	Reduction                 // norms of gradients, sums
	Permute                   // rows gathered or scattered by an index
	NumClasses
)

// Kernel describes one kernel launch: what it computes and what it moves, never
// how long it takes. Only the fields of its Kind are read.
type Kernel struct {
	Kind Kind

	// GEMM: Batch independent products of [M,K] and [K,N].
	Batch, M, N, K int64
	Layout         Layout
	In, Out        Dtype // operand and result formats; In sets the arithmetic rate
	Accumulate     bool  // the result is added to what memory holds (fp32 main gradients)

	// Attention: Batch sequences, Heads query heads, KVHeads key/value heads.
	Heads, KVHeads, SeqQ, SeqK, HeadDim int64
	Causal, Backward, Dropout           bool
	// FirstGeneration asks for the kernels of FlashAttention's first version.
	FirstGeneration bool
	// SecondGeneration asks for FlashAttention-2's, which are the same where the
	// device has no newer ones.
	SecondGeneration bool

	// Memory: bytes read from and written to device memory.
	Class                 Class
	ReadBytes, WriteBytes int64
	// Launches is how many launches the operator really is (a foreach optimizer
	// over many tensors; a GEMM whose batch is spread over one launch an expert);
	// 0 means 1.
	Launches int64
}

// FLOPs returns the floating-point operations of the kernel: 2MNK a product;
// for attention 4*b*h*sq*sk*d forward and 2.5 times that backward, halved when
// causal; 0 for memory-bound kernels.
func (k *Kernel) FLOPs() float64 {
	switch k.Kind {
	case GEMM:
		return 2 * float64(max(k.Batch, 1)) * float64(k.M) * float64(k.N) * float64(k.K)
	case Attention:
		f := 4 * float64(k.Batch) * float64(k.Heads) * float64(k.SeqQ) * float64(k.SeqK) * float64(k.HeadDim)
		if k.Causal {
			f /= 2
		}
		if k.Backward {
			f *= 2.5
		}
		return f
	}
	return 0
}
