package model

import (
	"maps"
	"slices"
	"strings"
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
	case product == "mlp.fc1" && !c.MLP.gated():
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

// feedForward reports whether a matrix of a model's feed-forward block is a target.
func (l *LoRA) feedForward(c *Config) bool {
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
