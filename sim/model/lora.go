package model

import (
	"maps"
	"slices"
	"strings"

	"trainsim/sim/gpu"
)

// LoRA is low-rank adaptation (Hu et al. 2021, arXiv 2106.09685): the base
// model is frozen, and beside each target matrix two thin ones of the given
// rank are trained. The zero value trains the model itself.
type LoRA struct {
	Rank int64 `toml:"rank"`
	// Targets says which matrices get adapters: all, attention, qkv or mlp, or
	// modules by PEFT's names with commas between them, as in "q_proj,v_proj".
	Targets string `toml:"targets"`
	// Base is the format of the frozen weights: 16bit, 8bit or 4bit. The last
	// two are widened to 16 bits for each product.
	Base string `toml:"base"`
}

// On reports whether the base model is frozen.
func (l *LoRA) On() bool { return l.Rank > 0 }

// loraModules are the matrices of a layer by their names in Hugging Face's PEFT:
// a product's output holds one or several of them side by side.
var loraModules = map[string][]string{
	"attn.qkv": {"q_proj", "k_proj", "v_proj"}, "attn.proj": {"o_proj"},
	"attn.q_down": {"q_a_proj"}, "attn.q_up": {"q_b_proj"},
	"attn.kv_down": {"kv_a_proj_with_mqa"}, "attn.kv_up": {"kv_b_proj"},
	"mlp.fc1": {"gate_proj", "up_proj"}, "mlp.fc2": {"down_proj"},
}

// loraSets are the words for several of them.
var loraSets = map[string]func(product string) bool{
	"all":       func(string) bool { return true },
	"attention": func(product string) bool { return strings.HasPrefix(product, "attn.") },
	"qkv": func(product string) bool {
		return product == "attn.qkv" || strings.HasPrefix(product, "attn.q_") || strings.HasPrefix(product, "attn.kv_")
	},
	"mlp": func(product string) bool { return strings.HasPrefix(product, "mlp.") },
}

// modules returns the matrices that a product's output holds in the model, by
// PEFT's names. Without a latent of their own DeepSeek's queries come from a
// q_proj, as in other models.
func (c *Config) modules(product string) []string {
	switch {
	case product == "attn.q_up" && c.QLoraRank == 0:
		return []string{"q_proj"}
	case product == "mlp.fc1" && !c.MLP.Gated():
		return []string{"up_proj"}
	}
	return loraModules[product]
}

// layerProducts returns the products of a layer whose matrices may be targets.
func (c *Config) layerProducts() []string {
	switch {
	case !c.latent():
		return []string{"attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"}
	case c.QLoraRank == 0:
		return []string{"attn.q_up", "attn.kv_down", "attn.kv_up", "attn.proj", "mlp.fc1", "mlp.fc2"}
	}
	return []string{"attn.q_down", "attn.q_up", "attn.kv_down", "attn.kv_up", "attn.proj", "mlp.fc1", "mlp.fc2"}
}

// TargetWords returns the words that LoRA's Targets may hold for the model, then
// the names of its layers' matrices.
func (c *Config) TargetWords() []string {
	out := slices.Sorted(maps.Keys(loraSets))
	for _, product := range c.layerProducts() {
		out = append(out, c.modules(product)...)
	}
	return out
}

// list returns the words of Targets.
func (l *LoRA) list() []string {
	words := strings.Split(l.Targets, ",")
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	return words
}

// UnknownTarget returns a word of Targets that names nothing in a model, or "".
func (l *LoRA) UnknownTarget(c *Config) string {
	words := c.TargetWords()
	for _, w := range l.list() {
		if !slices.Contains(words, w) {
			return w
		}
	}
	return ""
}

// FeedForward reports whether a matrix of a model's feed-forward block is a target.
func (l *LoRA) FeedForward(c *Config) bool {
	return len(l.targeted(c, "mlp.fc1")) > 0 || len(l.targeted(c, "mlp.fc2")) > 0
}

// targeted returns which modules of a product have adapters.
func (l *LoRA) targeted(c *Config, product string) []string {
	var out []string
	for _, m := range c.modules(product) {
		meant := func(w string) bool { return w == m || loraSets[w] != nil && loraSets[w](product) }
		if slices.ContainsFunc(l.list(), meant) {
			out = append(out, m)
		}
	}
	return out
}

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
			out = append(out, b.Heads/b.TP*b.Head())
		case "k_proj", "v_proj":
			out = append(out, b.kvHeads()*b.Head())
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
