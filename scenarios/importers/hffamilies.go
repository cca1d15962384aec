package importers

import (
	"sort"

	"trainsim/sim/input"
	"trainsim/sim/model"
)

var (
	gated = map[string]model.MLP{"silu": model.SwiGLU, "swish": model.SwiGLU}
	geglu = map[string]model.MLP{"gelu": model.GeGLU, "gelu_pytorch_tanh": model.GeGLU, "gelu_new": model.GeGLU}
	gelu  = map[string]model.MLP{"gelu": model.GELU, "gelu_new": model.GELU, "gelu_fast": model.GELU,
		"gelu_pytorch_tanh": model.GELU, "relu": model.ReLU}
	relued = map[string]model.MLP{"relu": model.ReLU, "gelu": model.GELU}
)

// widths reads what every family has, under any of its names.
func (h *hfConfig) widths(m *model.Config) {
	m.Hidden = h.count("hidden", "hidden_size", "n_embd", "n_embed")
	m.Layers = h.count("layers", "num_hidden_layers", "n_layer")
	m.Heads = h.count("heads", "num_attention_heads", "n_head")
	m.Vocab = h.count("vocab", "vocab_size")
}

// grouped reads the shape of grouped-query attention.
func (h *hfConfig) grouped(m *model.Config) {
	m.KVHeads = h.countOr(m.Heads, "kv_heads", "num_key_value_heads")
	m.HeadDim = h.countOr(0, "head_dim", "head_dim")
	m.FFN = h.count("ffn", "intermediate_size")
}

// modern reads the common part of the families with RMS norm and rotary positions.
func modern(h *hfConfig, m *model.Config, tied bool) {
	h.widths(m)
	h.grouped(m)
	m.Norm, m.Position = model.RMSNorm, model.Rotary
	m.TieEmbeddings = h.flag("tie_word_embeddings", tied)
}

func readLlama(h *hfConfig, m *model.Config) {
	modern(h, m, false)
	h.activation(m, gated, "silu", "hidden_act")
	h.want("attention_bias", false, false, "its biases cover the attention output but not the feed-forward block")
	h.want("mlp_bias", false, false, "biases on the feed-forward block alone")
}

// readQwen2: biases on query, key and value only.
func readQwen2(h *hfConfig, m *model.Config) {
	modern(h, m, false)
	m.QKVBias = true
	h.activation(m, gated, "silu", "hidden_act")
}

// readQwen3: no biases, a norm on every query and key head.
func readQwen3(h *hfConfig, m *model.Config) {
	modern(h, m, false)
	m.QKNorm = true
	m.HeadDim = h.countOr(128, "head_dim", "head_dim")
	h.activation(m, gated, "silu", "hidden_act")
	h.want("attention_bias", false, false, "its biases cover the attention output but not the feed-forward block")
}

func readGemma(h *hfConfig, m *model.Config) {
	modern(h, m, true)
	m.HeadDim = h.countOr(256, "head_dim", "head_dim")
	h.activation(m, geglu, "gelu_pytorch_tanh", "hidden_activation", "hidden_act")
	h.want("attention_bias", false, false, "its biases cover the attention output but not the feed-forward block")
}

// readGemma2: further norms behind attention and feed-forward block.
func readGemma2(h *hfConfig, m *model.Config) {
	readGemma(h, m)
	m.PostNorms = true
}

// readGemma3: as Gemma 2, with a norm on every query and key head. Configs
// inside the multimodal ones leave out what equals the class's defaults.
func readGemma3(h *hfConfig, m *model.Config) {
	m.Hidden = h.countOr(2304, "hidden", "hidden_size")
	m.Layers = h.countOr(26, "layers", "num_hidden_layers")
	m.Heads = h.countOr(8, "heads", "num_attention_heads")
	m.Vocab = h.countOr(262208, "vocab", "vocab_size")
	m.KVHeads = h.countOr(4, "kv_heads", "num_key_value_heads")
	m.HeadDim = h.countOr(256, "head_dim", "head_dim")
	m.FFN = h.countOr(9216, "ffn", "intermediate_size")
	m.Norm, m.Position = model.RMSNorm, model.Rotary
	m.TieEmbeddings = h.flag("tie_word_embeddings", true)
	m.PostNorms, m.QKNorm = true, true
	h.activation(m, geglu, "gelu_pytorch_tanh", "hidden_activation", "hidden_act")
	h.want("attention_bias", false, false, "its biases cover the attention output but not the feed-forward block")
}

func readPhi3(h *hfConfig, m *model.Config) {
	modern(h, m, false)
	h.activation(m, gated, "silu", "hidden_act")
	h.want("attention_bias", false, false, "its biases cover the attention output but not the feed-forward block")
}

// classic reads the common part of the families with layer norms and biases.
func classic(h *hfConfig, m *model.Config, position model.Position) {
	h.widths(m)
	m.Norm, m.Position = model.LayerNorm, position
	m.LinearBias, m.QKVBias = true, true
	m.TieEmbeddings = h.flag("tie_word_embeddings", true)
}

func readGPT2(h *hfConfig, m *model.Config) {
	classic(h, m, model.Learned)
	m.MaxPositions = h.count("max_positions", "n_positions", "n_ctx", "max_position_embeddings")
	m.FFN = h.countOr(4*m.Hidden, "ffn", "n_inner")
	h.activation(m, gelu, "gelu_new", "activation_function")
	h.want("add_cross_attention", false, false, "there is no encoder")
}

func readNeoX(h *hfConfig, m *model.Config) {
	classic(h, m, model.Rotary)
	m.TieEmbeddings = h.flag("tie_word_embeddings", false)
	m.FFN = h.count("ffn", "intermediate_size")
	m.ParallelBlock = h.flag("use_parallel_residual", true)
	h.activation(m, gelu, "gelu", "hidden_act")
	h.want("attention_bias", true, true, "biases on the feed-forward block alone")
}

// readOPT: two rows of the position table are never used, but are there.
func readOPT(h *hfConfig, m *model.Config) {
	classic(h, m, model.Learned)
	m.MaxPositions = h.count("max_positions", "max_position_embeddings") + 2
	m.FFN = h.count("ffn", "ffn_dim")
	h.activation(m, relued, "relu", "activation_function")
	h.want("do_layer_norm_before", true, true, "norms stand before attention and feed-forward block")
	h.want("enable_bias", true, true, "the matrices have biases")
	h.want("layer_norm_elementwise_affine", true, true, "norms have weights")
	h.want("_remove_final_layer_norm", false, false, "there is a norm before the head")
	if name, ok := h.has("word_embed_proj_dim"); ok && h.number("hidden", name) != m.Hidden {
		h.fail(name, "differs from hidden_size: a projected embedding is not modelled")
	}
}

func readBLOOM(h *hfConfig, m *model.Config) {
	classic(h, m, model.ALiBi)
	m.EmbeddingNorm = true
	m.FFN = h.countOr(4*m.Hidden, "ffn", "n_inner")
	m.MLP = model.GELU
}

// readBERT: the masked-language model, as transformers' BertForMaskedLM.
func readBERT(h *hfConfig, m *model.Config) {
	classic(h, m, model.Learned)
	m.MaxPositions = h.count("max_positions", "max_position_embeddings")
	m.TokenTypes = h.countOr(2, "token_types", "type_vocab_size")
	m.FFN = h.count("ffn", "intermediate_size")
	m.EmbeddingNorm, m.FinalNorm, m.Bidirectional, m.HeadTransform, m.HeadBias = true, false, true, true, true
	h.activation(m, gelu, "gelu", "hidden_act")
	h.want("is_decoder", false, false, "every token attends to every other")
	h.want("add_cross_attention", false, false, "there is no decoder")
	if name, ok := h.has("position_embedding_type"); ok && h.word("", name) != "absolute" {
		h.fail(name, "is not modelled; only \"absolute\" is")
	}
}

// activation sets the kind of feed-forward block from the activation function.
func (h *hfConfig) activation(m *model.Config, kinds map[string]model.MLP, def string, names ...string) {
	name, _ := h.has(names...)
	act := h.word(def, names...)
	kind, ok := kinds[act]
	if !ok {
		known := make([]string, 0, len(kinds))
		for k := range kinds {
			known = append(known, k)
		}
		sort.Strings(known)
		h.fail(name, "%s is not an activation of this family here; %s",
			input.Quote(act), input.DidYouMean(act, known))
	}
	m.MLP = kind
}
