package model

import (
	"slices"

	"trainsim/sim/gpu"
)

// adapters returns the widths of the adapters beside a product of width outputs:
// one for all of it where the framework's matrix is one (Megatron-LM's linear_qkv
// and linear_fc1) and all of it is meant, else one for each module, as PEFT and
// Megatron-Bridge's canonical LoRA have them.
func (b *Builder) adapters(product string, width int64) []int64 {
	if !b.LoRA.On() {
		return nil
	}
	modules, meant := b.modules(product), b.LoRA.targeted(&b.Config, product)
	if len(meant) == 0 {
		return nil
	}
	whole := len(meant) == len(modules) && !slices.Contains(b.LoRA.list(), meant[0])
	if len(modules) == 1 || b.Modules != PlainModules && whole {
		return []int64{width}
	}
	var out []int64
	for _, m := range meant {
		switch m {
		case "q_proj":
			out = append(out, b.Heads/b.TP*b.headWidth())
		case "k_proj", "v_proj":
			out = append(out, b.kvHeads()*b.headWidth())
		case "gate_proj", "up_proj":
			out = append(out, width/2)
		}
	}
	return out
}

// baseBits returns the bits of a frozen weight in thousandths: 8 bits of
// LLM.int8, whose scales are one a row; 4.127 of NF4 with doubly quantised
// scales (Dettmers et al. 2023, arXiv 2305.14314, section 3).
func (b *Builder) baseBits() int64 {
	switch b.LoRA.Base {
	case "8bit":
		return 8000
	case "4bit":
		return 4127
	}
	return b.element() * 8000
}

// quantised reports whether base weights are widened before use.
func (b *Builder) quantised() bool {
	return b.LoRA.On() && (b.LoRA.Base == "8bit" || b.LoRA.Base == "4bit")
}

// addWeights counts parameters of the base model: frozen under LoRA.
// Quantisation is for the matrices of the layers.
func (b *Builder) addWeights(n int64, matrix bool) {
	if !b.LoRA.On() {
		b.AddParameters(n, Replicated)
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
func (b *Builder) widen(name string, phase Phase, out, in int64) []TensorID {
	if !b.quantised() {
		return nil
	}
	w := b.Tensor(name+".widened", out, in, b.element())
	n := out * in
	b.memory(name+".widen", phase, gpu.Copy, n*b.baseBits()/8000, n*b.element(), nil, ids(w))
	return ids(w)
}

// adapted adds the products with thin matrices, x A B, to a layer's output: one
// for each of the widths.
func (b *Builder) adapted(name string, x, out Value, widths []int64) Value {
	added := make([]Value, len(widths))
	for i, width := range widths {
		added[i] = b.adapter(name, x, out.Rows, width)
	}
	sum := b.like(name+".lora_add.out", out)
	n := out.Rows * out.Width * b.element()
	read := n
	for _, v := range added {
		read += v.Rows * v.Width * b.element()
	}
	b.memory(name+".lora_add", b.phase, gpu.Elementwise, read, n, append(ids(out), ids(added...)...), ids(sum))
	b.Backward(func() {
		dsum := b.Gradient(sum)
		b.SetGradient(out, dsum)
		for _, v := range added { // each reads its columns
			b.SetGradient(v, Value{dsum.ID, v.Rows, v.Width})
		}
	})
	return sum
}

// adapter is x A B, rows x width.
func (b *Builder) adapter(name string, x Value, rows, width int64) Value {
	r := b.LoRA.Rank
	thin := b.Tensor(name+".lora_a.out", rows, r, b.element())
	b.kernel(name+".lora_a", b.phase, b.gemm(x.Rows, r, x.Width, gpu.TN), ids(x), ids(thin))
	b.thinExchange(name, b.phase, thin)
	out := b.Tensor(name+".lora_b.out", rows, width, b.element())
	b.kernel(name+".lora_b", b.phase, b.gemm(rows, width, r, gpu.TN), ids(thin), ids(out))
	b.AddParameters(x.Width*r, Replicated)
	b.AddParameters(width*r, Replicated)
	b.Backward(func() {
		b.adapterBackward(name, x, thin, out)
	})
	return out
}

func (b *Builder) adapterBackward(name string, x, thin, out Value) {
	r, dy := b.LoRA.Rank, b.Gradient(out)
	dthin := b.like(name+".lora_a.dout", thin)
	b.kernel(name+".lora_b.dgrad", BackwardInput, b.gemm(out.Rows, r, out.Width, gpu.NN), ids(dy), ids(dthin))
	b.kernel(name+".lora_b.wgrad", BackwardWeight, b.weightGrad(out.Width, r, out.Rows), ids(thin, dy),
		b.keepGrad(b.weightGradTensor(matrix{name: name + ".lora_b", width: out.Width}, r)))
	b.thinExchange(name, BackwardInput, dthin)
	dx := b.like(name+".lora_a.dx", x)
	b.kernel(name+".lora_a.dgrad", BackwardInput, b.gemm(x.Rows, x.Width, r, gpu.NN), ids(dthin), ids(dx))
	b.kernel(name+".lora_a.wgrad", BackwardWeight, b.weightGrad(r, x.Width, x.Rows), ids(x, dthin),
		b.keepGrad(b.weightGradTensor(matrix{name: name + ".lora_a", width: r}, x.Width)))
	b.SetGradient(x, dx)
}

// thinExchange sums or gathers the thin result over the tensor-parallel ranks.
func (b *Builder) thinExchange(name string, phase Phase, thin Value) {
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
