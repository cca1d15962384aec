package model

import "fmt"

// MLP is the kind of feed-forward block.
type MLP string

// Kinds of feed-forward block.
const (
	GELU   MLP = "gelu"   // two matrices: h x ffn, ffn x h
	SwiGLU MLP = "swiglu" // three matrices: gate and up (h x ffn each), down
	GeGLU  MLP = "geglu"  // as SwiGLU with GELU as the gate
	ReLU   MLP = "relu"   // two matrices
)

// gated reports whether the block has a gate matrix beside the up matrix.
func (m MLP) gated() bool { return m == SwiGLU || m == GeGLU }

// Norm is the kind of normalisation.
type Norm string

// Kinds of normalisation.
const (
	LayerNorm Norm = "layernorm" // weight and bias
	RMSNorm   Norm = "rmsnorm"   // weight
)

// Position is how token positions enter the model.
type Position string

// Kinds of position encoding.
const (
	Learned Position = "learned" // an embedding table of MaxPositions rows
	Rotary  Position = "rope"
	ALiBi   Position = "alibi"
	NoPos   Position = "none"
)

// AttentionKind is how the attention core is computed.
type AttentionKind string

// Kinds of attention core.
const (
	Flash   AttentionKind = "flash"   // one fused kernel, no s x s matrix in memory
	Flash2  AttentionKind = "flash2"  // the same by FlashAttention-2, which PyTorch's own takes on Hopper
	Flash1  AttentionKind = "flash1"  // the same by FlashAttention's first version, as of 2022 and early 2023
	Unfused AttentionKind = "unfused" // QK^T, masked softmax, dropout and AV as kernels of their own
)

// Config describes a transformer. Widths are numbers of elements.
type Config struct {
	Name string `toml:"name"`
	// Family names the kind of model; "" is a transformer, whose keys follow.
	Family        string        `toml:"-"`
	Layers        int64         `toml:"layers"`
	Hidden        int64         `toml:"hidden"`
	Heads         int64         `toml:"heads"`
	KVHeads       int64         `toml:"kv_heads"` // grouped-query attention; Heads when not given
	HeadDim       int64         `toml:"head_dim"` // Hidden/Heads when not given
	FFN           int64         `toml:"ffn"`      // width of one projection
	Vocab         int64         `toml:"vocab"`
	MaxPositions  int64         `toml:"max_positions"` // rows of the learned position table
	SeqLen        int64         `toml:"seq_len"`
	MLP           MLP           `toml:"mlp"`
	Norm          Norm          `toml:"norm"`
	Position      Position      `toml:"position"`
	Attention     AttentionKind `toml:"attention"`
	TieEmbeddings bool          `toml:"tie_embeddings"`
	LinearBias    bool          `toml:"linear_bias"`    // biases on the attention output and MLP matrices
	QKVBias       bool          `toml:"qkv_bias"`       // biases on the query, key and value matrices
	QKNorm        bool          `toml:"qk_norm"`        // a norm over head_dim for queries and keys
	PostNorms     bool          `toml:"post_norms"`     // further norms after attention and MLP (Gemma 2)
	ParallelBlock bool          `toml:"parallel_block"` // attention and MLP side by side (GPT-NeoX)
	SharedNorm    bool          `toml:"shared_norm"`    // one norm feeds both in a parallel block
	EmbeddingNorm bool          `toml:"embedding_norm"` // a norm after the embedding (BLOOM, BERT)
	FinalNorm     bool          `toml:"final_norm"`     // a norm before the head
	TokenTypes    int64         `toml:"token_types"`    // rows of the token-type table (BERT)
	Bidirectional bool          `toml:"bidirectional"`  // no causal mask (BERT)
	HeadTransform bool          `toml:"head_transform"` // dense + GELU + norm before the head (BERT's MLM head)
	HeadBias      bool          `toml:"head_bias"`      // a bias over the vocabulary
	// Bare leaves out embedding, head and loss: transformer layers alone, for
	// comparing schedules with their closed forms.
	Bare          bool  `toml:"bare"`
	VocabMultiple int64 `toml:"vocab_multiple"` // Megatron pads the vocabulary to this times TP; 0 pads to TP only

	// Mixture of experts. Without Experts every layer is dense.
	Experts          int64   `toml:"experts"`            // routed experts of a layer
	ExpertsPerToken  int64   `toml:"experts_per_token"`  // experts that a token is sent to
	ExpertFFN        int64   `toml:"expert_ffn"`         // width of one expert; FFN when not given
	SharedExpertFFN  int64   `toml:"shared_expert_ffn"`  // width of the experts that see every token, together
	SharedExpertGate bool    `toml:"shared_expert_gate"` // a gate scales their output (Qwen)
	DenseLayers      int64   `toml:"dense_layers"`       // first layers, which have no experts
	ExpertCapacity   float64 `toml:"expert_capacity"`    // experts are filled to so many times the mean; 0: what comes

	// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434). Without
	// KVLoraRank queries, keys and values come from one projection each.
	KVLoraRank  int64 `toml:"kv_lora_rank"`  // width of the latent that keys and values come from
	QLoraRank   int64 `toml:"q_lora_rank"`   // width of the queries' latent; 0: queries come from the input
	RopeHeadDim int64 `toml:"rope_head_dim"` // part of a query's and key's head with positions, beside HeadDim
	VHeadDim    int64 `toml:"v_head_dim"`    // a value's head; HeadDim when not given
}

// Complete fills in the widths and names that follow from others where they are
// not given (0 or empty).
func (c *Config) Complete() {
	if c.Name == "" {
		c.Name = "custom"
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	if c.HeadDim == 0 && c.Heads > 0 && c.Hidden%c.Heads == 0 {
		c.HeadDim = c.Hidden / c.Heads
	}
	if c.FFN == 0 && !c.MLP.gated() {
		c.FFN = 4 * c.Hidden
	}
	if c.MaxPositions == 0 && c.Position == Learned {
		c.MaxPositions = c.SeqLen
	}
	if c.Experts > 0 && c.ExpertFFN == 0 {
		c.ExpertFFN = c.FFN
	}
	if c.KVLoraRank > 0 && c.VHeadDim == 0 {
		c.VHeadDim = c.HeadDim
	}
}

// Tokens returns the tokens of one sample.
func (c *Config) Tokens() int64 { return c.SeqLen }

// SampleBytes returns what one sample takes in a batch as it is loaded: for each
// token its number, its label and its mask, of 8 bytes each.
func (c *Config) SampleBytes() int64 { return 3 * 8 * c.SeqLen }

// FusedAttention reports whether one kernel computes the attention's core.
func (c *Config) FusedAttention() bool { return c.Attention != Unfused }

// TradesHeads reports whether so many tensor- and context-parallel ranks may
// exchange sequence for heads: they share them evenly. Latent attention has the
// ring alone.
func (c *Config) TradesHeads(ranks int) bool {
	return !c.latent() && c.KV()%int64(ranks) == 0 && c.Heads%int64(ranks) == 0
}

// headWidth returns the width of one attention head.
func (c *Config) headWidth() int64 {
	if c.HeadDim > 0 {
		return c.HeadDim
	}
	return c.Hidden / c.Heads
}

// KV returns the number of key/value heads.
func (c *Config) KV() int64 {
	if c.KVHeads > 0 {
		return c.KVHeads
	}
	return c.Heads
}

// Empty reports whether no key says anything of a model.
func (c *Config) Empty() bool { return c.Hidden == 0 }

// Balanced reports whether so many context-parallel ranks get equal shares of a
// causal sequence: two parts each, one from either end.
func (c *Config) Balanced(cp int) bool { return cp == 1 || c.SeqLen%int64(2*cp) == 0 }

// MostEP returns over how many ranks the experts of a layer may be spread at
// most; 0 where the model has none.
func (c *Config) MostEP() int { return int(c.Experts) }

// Assumptions says what the figures of a job take for granted about the model.
func (c *Config) Assumptions() []string {
	if c.Experts == 0 {
		return nil
	}
	text := "Tokens are spread evenly over the experts; none is dropped."
	if c.ExpertCapacity > 0 {
		text = fmt.Sprintf("Tokens are spread evenly over the experts, "+
			"which are filled, or cut, to %g times the mean.", c.ExpertCapacity)
	}
	return []string{text + " All-to-alls are NCCL's, with no computation beside them."}
}

// Widest returns the bytes of the largest tensor for so many samples over tensor-
// and context-parallel ranks, roughly: what numbers must stay in range.
func (c *Config) Widest(samples float64, tp, cp int) float64 {
	tokens := samples * float64(c.SeqLen) / float64(cp)
	widest := tokens * float64(max(3*c.Hidden, 2*c.FFN, c.Vocab)) * 4
	if !c.FusedAttention() {
		widest = max(widest, samples*float64(c.Heads)*float64(c.SeqLen)*float64(c.SeqLen)*4)
	}
	return widest / float64(tp)
}
