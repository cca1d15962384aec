package importers

import "trainsim/sim/model"

// readMixtral: Mistral with experts in every layer.
func readMixtral(h *hfConfig, m *model.Config) {
	readLlama(h, m)
	m.Experts = h.count("experts", "num_local_experts")
	m.ExpertsPerToken = h.countOr(2, "experts_per_token", "num_experts_per_tok")
}

// readQwen2MoE: experts and a gated shared one.
func readQwen2MoE(h *hfConfig, m *model.Config) {
	readQwen2(h, m)
	h.qwenExperts(m)
	m.SharedExpertFFN = h.count("shared_expert_ffn", "shared_expert_intermediate_size")
	m.SharedExpertGate = m.SharedExpertFFN > 0
}

func readQwen3MoE(h *hfConfig, m *model.Config) {
	readQwen3(h, m)
	h.qwenExperts(m)
}

// qwenExperts reads what Qwen's mixtures share.
func (h *hfConfig) qwenExperts(m *model.Config) {
	m.Experts = h.count("experts", "num_experts")
	m.ExpertsPerToken = h.count("experts_per_token", "num_experts_per_tok")
	m.ExpertFFN = h.count("expert_ffn", "moe_intermediate_size")
	if name, ok := h.has("decoder_sparse_step"); ok && h.number("dense_layers", name) != 1 {
		h.fail(name, "is not modelled: every layer has experts; 1 is")
	}
	if name, ok := h.has("mlp_only_layers"); ok && string(h.fields[name].raw) != "[]" {
		h.fail(name, "is not modelled: every layer has experts; [] is")
	}
}

// readDeepSeek: latent attention, dense first layers, routed and shared experts.
// V3's layers that predict further tokens (num_nextn_predict_layers) are left
// out, as transformers does.
func readDeepSeek(h *hfConfig, m *model.Config) {
	h.widths(m)
	m.FFN = h.count("ffn", "intermediate_size")
	m.Norm, m.Position = model.RMSNorm, model.Rotary
	m.TieEmbeddings = h.flag("tie_word_embeddings", false)
	h.activation(m, gated, "silu", "hidden_act")
	h.want("attention_bias", false, false, "its biases cover the attention output but not the feed-forward block")
	m.KVLoraRank = h.count("kv_lora_rank", "kv_lora_rank")
	if raw, ok := h.fields["q_lora_rank"]; !ok || string(raw.raw) != "null" { // null: queries come from the input
		m.QLoraRank = h.count("q_lora_rank", "q_lora_rank")
	}
	m.HeadDim = h.count("head_dim", "qk_nope_head_dim")
	m.RopeHeadDim = h.count("rope_head_dim", "qk_rope_head_dim")
	m.VHeadDim = h.count("v_head_dim", "v_head_dim")
	m.Experts = h.count("experts", "n_routed_experts")
	m.ExpertsPerToken = h.count("experts_per_token", "num_experts_per_tok")
	m.ExpertFFN = h.count("expert_ffn", "moe_intermediate_size")
	if raw, ok := h.fields["n_shared_experts"]; !ok || string(raw.raw) != "null" {
		m.SharedExpertFFN = h.count("shared_expert_ffn", "n_shared_experts") * m.ExpertFFN
	}
	if raw := string(h.fields["first_k_dense_replace"].raw); raw != "0" {
		m.DenseLayers = h.count("dense_layers", "first_k_dense_replace")
	}
	if name, ok := h.has("moe_layer_freq"); ok && h.number("dense_layers", name) != 1 {
		h.fail(name, "is not modelled: every layer behind the dense ones has experts; 1 is")
	}
}
