package keys

// synonyms are names that other programs have for keys: a misnamed key is
// answered with ours.
var synonyms = byName(map[string][]string{
	"model.seq_len":       {"sequence_length", "seq_length", "seqlen", "context_length"},
	"model.layers":        {"num_layers", "n_layers", "num_hidden_layers", "n_layer"},
	"model.hidden":        {"hidden_size", "d_model", "n_embd", "dim"},
	"model.heads":         {"num_attention_heads", "n_heads", "n_head", "num_heads"},
	"model.kv_heads":      {"num_key_value_heads", "num_query_groups", "n_kv_heads"},
	"model.ffn":           {"intermediate_size", "ffn_hidden_size", "d_ff"},
	"model.vocab":         {"vocab_size"},
	"model.max_positions": {"max_position_embeddings"},
	"model.norm":          {"normalization"},
	"parallel.tp":         {"tensor_parallel", "tensor_model_parallel_size", "tp_size"},
	"parallel.pp":         {"pipeline_parallel", "pipeline_model_parallel_size", "pp_size"},
	"parallel.dp":         {"data_parallel", "data_parallel_size", "dp_size"},
	"parallel.cp":         {"context_parallel", "context_parallel_size"},
	"parallel.ep":         {"expert_parallel", "expert_model_parallel_size", "ep_size", "expert_parallel_size"},
	"parallel.etp":        {"expert_tensor_parallel_size", "etp_size"},
	"model.experts":       {"num_experts", "num_local_experts", "n_routed_experts", "num_moe_experts", "moe"},
	"model.experts_per_token": {
		"num_experts_per_tok", "moe_router_topk", "topk", "top_k", "moe_topk", "router_topk",
	},
	"model.shared_expert_ffn":  {"n_shared_experts", "moe_shared_expert_intermediate_size"},
	"model.expert_ffn":         {"moe_ffn", "moe_ffn_hidden_size", "moe_intermediate_size"},
	"model.expert_capacity":    {"capacity_factor", "moe_expert_capacity_factor"},
	"model.dense_layers":       {"first_k_dense_replace"},
	"model.rope_head_dim":      {"qk_rope_head_dim"},
	"model.head_dim":           {"qk_nope_head_dim"},
	"parallel.zero":            {"zero_stage", "distributed_optimizer", "use_distributed_optimizer"},
	"schedule.microbatch_size": {"micro_batch_size", "mbs"},
	"schedule.microbatches":    {"num_microbatches", "gradient_accumulation_steps", "global_batch_size"},
	"schedule.virtual_stages":  {"num_virtual_stages", "vpp"},
	"training.recompute":       {"activation_checkpointing", "gradient_checkpointing", "recompute_granularity"},
	"training.precision":       {"dtype"},
	"training.optimizer":       {"optim"},
	"cluster.nodes":            {"gpus", "num_nodes", "nnodes"},
	"cluster.gpus_per_node":    {"nproc_per_node"},
	"memory.alloc_conf":        {"pytorch_cuda_alloc_conf"},
})

// byName turns names by keys into keys by names.
func byName(of map[string][]string) map[string]string {
	out := map[string]string{}
	for key, names := range of {
		for _, name := range names {
			out[name] = key
		}
	}
	return out
}
