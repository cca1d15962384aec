package model

import (
	"strings"

	"trainsim/sim/gpu"
)

// LoRA is low-rank adaptation (Hu et al. 2021, arXiv 2106.09685): the base
// model is frozen, and beside each target matrix two thin ones of the given
// rank are trained. The zero value trains the model itself.
type LoRA struct {
	Rank int64 `toml:"rank"`
	// Targets says which matrices get adapters: all, attention, qkv or mlp.
	Targets string `toml:"targets"`
	// Base is the format of the frozen weights: 16bit, 8bit or 4bit. The last
	// two are widened to 16 bits for each product.
	Base string `toml:"base"`
}

// On reports whether the base model is frozen.
func (l *LoRA) On() bool { return l.Rank > 0 }

// adapts reports whether a linear layer gets adapters.
func (l *LoRA) adapts(name string) bool {
	switch {
	case !l.On() || name == "logits" || name == "transform" || strings.HasPrefix(name, "moe."):
		return false
	case l.Targets == "attention":
		return strings.HasPrefix(name, "attn.")
	case l.Targets == "qkv":
		return name == "attn.qkv" || strings.HasPrefix(name, "attn.q_") || strings.HasPrefix(name, "attn.kv_")
	case l.Targets == "mlp":
		return strings.HasPrefix(name, "mlp.")
	}
	return true
}

// baseBits returns the bits of a frozen weight in thousandths: 8 bits of
// LLM.int8, whose scales are one a row; 4.127 of NF4 with doubly quantised
// scales (Dettmers et al. 2023, arXiv 2305.14314, section 3).
func (b *builder) baseBits() int64 {
	switch b.LoRA.Base {
	case "8bit":
		return 8000
	case "4bit":
		return 4127
	}
	return b.element() * 8000
}

// quantised reports whether base weights are widened before use.
func (b *builder) quantised() bool {
	return b.LoRA.On() && (b.LoRA.Base == "8bit" || b.LoRA.Base == "4bit")
}

// addWeights counts parameters of the base model: frozen under LoRA.
// Quantisation is for the matrices of the layers.
func (b *builder) addWeights(n int64, matrix bool) {
	if !b.LoRA.On() {
		b.addParameters(n)
		return
	}
	bytes := n * b.element()
	if matrix && b.quantised() {
		bytes = n * b.baseBits() / 8000
	}
	b.frozen += bytes
	if b.phase == Forward {
		b.chunk.Frozen = append(b.chunk.Frozen, bytes)
	}
}

// widen turns a quantised matrix into one that a product can read.
func (b *builder) widen(name string, phase Phase, out, in int64) []TensorID {
	if !b.quantised() || name == "logits" {
		return nil
	}
	w := b.tensor(name+".widened", out, in, b.element())
	n := out * in
	b.memory(name+".widen", phase, gpu.Copy, n*b.baseBits()/8000, n*b.element(), nil, ids(w))
	return ids(w)
}

// adapter adds the product with the thin matrices, x A B, to the layer's
// output.
func (b *builder) adapter(name string, x, out value) value {
	r := b.LoRA.Rank
	thin := b.tensor(name+".lora_a.out", out.rows, r, b.element())
	b.kernel(name+".lora_a", b.phase, b.gemm(x.rows, r, x.width, gpu.TN), ids(x), ids(thin))
	b.thinExchange(name, b.phase, thin)
	wide := b.like(name+".lora_b.out", out)
	b.kernel(name+".lora_b", b.phase, b.gemm(out.rows, out.width, r, gpu.TN), ids(thin), ids(wide))
	b.addParameters(x.width * r)
	b.addParameters(out.width * r)
	layer := b.layer
	b.push(func() {
		b.layer = layer
		b.adapterBackward(name, x, out, thin, wide)
	})
	return b.sum(name+".lora_add", wide, out)
}

func (b *builder) adapterBackward(name string, x, out, thin, wide value) {
	r, dy := b.LoRA.Rank, b.grad(wide)
	dthin := b.like(name+".lora_a.dout", thin)
	b.kernel(name+".lora_b.dgrad", BackwardInput, b.gemm(out.rows, r, out.width, gpu.NN), ids(dy), ids(dthin))
	b.kernel(name+".lora_b.wgrad", BackwardWeight, b.weightGrad(out.width, r, out.rows), ids(thin, dy), b.keepGrad(b.weightGradTensor(name+".lora_b", out.width, r)))
	b.thinExchange(name, BackwardInput, dthin)
	dx := b.like(name+".lora_a.dx", x)
	b.kernel(name+".lora_a.dgrad", BackwardInput, b.gemm(x.rows, x.width, r, gpu.NN), ids(dthin), ids(dx))
	b.kernel(name+".lora_a.wgrad", BackwardWeight, b.weightGrad(r, x.width, x.rows), ids(x, dthin), b.keepGrad(b.weightGradTensor(name+".lora_a", r, x.width)))
	b.setGrad(x, dx)
}

// thinExchange sums or gathers the thin result over the tensor-parallel ranks.
func (b *builder) thinExchange(name string, phase Phase, thin value) {
	if b.TP > 1 {
		b.collective(name+".lora_all_reduce", phase, b.tpComm(AllReduce, thin), ids(thin), nil)
	}
}

// TrainingFLOPs returns the operations of forward and backward for one token,
// recomputation aside: the backward takes twice the forward's, or once where
// weights are frozen.
func (s *Spec) TrainingFLOPs() float64 {
	if s.LoRA.On() {
		return 2 * s.FLOPs()
	}
	return 3 * s.FLOPs()
}
