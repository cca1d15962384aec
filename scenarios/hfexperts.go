package scenarios

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
	m.SharedExpertFFN = h.countOr(0, "shared_expert_ffn", "shared_expert_intermediate_size")
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

// readDeepSeekV2: latent attention, dense first layers, routed and shared experts.
func readDeepSeekV2(h *hfConfig, m *model.Config) {
	h.widths(m)
	m.FFN = h.count("ffn", "intermediate_size")
	m.Norm, m.Position = model.RMSNorm, model.Rotary
	m.TieEmbeddings = h.flag("tie_word_embeddings", false)
	h.activation(m, gated, "silu", "hidden_act")
	h.want("attention_bias", false, false, "its biases cover the attention output but not the feed-forward block")
	m.KVLoraRank = h.count("kv_lora_rank", "kv_lora_rank")
	m.QLoraRank = h.countOr(0, "q_lora_rank", "q_lora_rank")
	m.HeadDim = h.count("head_dim", "qk_nope_head_dim")
	m.RopeHeadDim = h.count("rope_head_dim", "qk_rope_head_dim")
	m.VHeadDim = h.count("v_head_dim", "v_head_dim")
	m.Experts = h.count("experts", "n_routed_experts")
	m.ExpertsPerToken = h.count("experts_per_token", "num_experts_per_tok")
	m.ExpertFFN = h.count("expert_ffn", "moe_intermediate_size")
	m.SharedExpertFFN = h.countOr(0, "shared_expert_ffn", "n_shared_experts") * m.ExpertFFN
	if raw := string(h.fields["first_k_dense_replace"].raw); raw != "0" {
		m.DenseLayers = h.countOr(0, "dense_layers", "first_k_dense_replace")
	}
	if name, ok := h.has("moe_layer_freq"); ok && h.number("dense_layers", name) != 1 {
		h.fail(name, "is not modelled: every layer behind the dense ones has experts; 1 is")
	}
}

// readDeepSeekV3 leaves out the layers that predict further tokens
// (num_nextn_predict_layers), as transformers does.
func readDeepSeekV3(h *hfConfig, m *model.Config) {
	readDeepSeekV2(h, m)
	if m.QLoraRank == 0 {
		m.QLoraRank = h.countOr(1536, "q_lora_rank", "q_lora_rank")
	}
}
