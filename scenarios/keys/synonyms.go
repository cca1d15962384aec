package keys

// synonyms are names that other programs have for keys: a misnamed key is
// answered with ours.
var synonyms = map[string]string{
	"sequence_length": "model.seq_len", "seq_length": "model.seq_len", "seqlen": "model.seq_len", "context_length": "model.seq_len",
	"num_layers": "model.layers", "n_layers": "model.layers", "num_hidden_layers": "model.layers", "n_layer": "model.layers",
	"hidden_size": "model.hidden", "d_model": "model.hidden", "n_embd": "model.hidden", "dim": "model.hidden",
	"num_attention_heads": "model.heads", "n_heads": "model.heads", "n_head": "model.heads", "num_heads": "model.heads",
	"num_key_value_heads": "model.kv_heads", "num_query_groups": "model.kv_heads", "n_kv_heads": "model.kv_heads",
	"intermediate_size": "model.ffn", "ffn_hidden_size": "model.ffn", "d_ff": "model.ffn",
	"vocab_size": "model.vocab", "max_position_embeddings": "model.max_positions", "normalization": "model.norm",
	"tensor_parallel": "parallel.tp", "tensor_model_parallel_size": "parallel.tp", "tp_size": "parallel.tp",
	"pipeline_parallel": "parallel.pp", "pipeline_model_parallel_size": "parallel.pp", "pp_size": "parallel.pp",
	"data_parallel": "parallel.dp", "data_parallel_size": "parallel.dp", "dp_size": "parallel.dp",
	"context_parallel": "parallel.cp", "context_parallel_size": "parallel.cp", "expert_parallel": "parallel.ep",
	"expert_model_parallel_size": "parallel.ep", "expert_tensor_parallel_size": "parallel.etp",
	"num_experts": "model.experts", "num_local_experts": "model.experts", "n_routed_experts": "model.experts",
	"num_experts_per_tok": "model.experts_per_token", "moe_router_topk": "model.experts_per_token", "topk": "model.experts_per_token",
	"top_k": "model.experts_per_token", "moe_topk": "model.experts_per_token", "router_topk": "model.experts_per_token",
	"num_moe_experts": "model.experts", "moe": "model.experts", "n_shared_experts": "model.shared_expert_ffn", "moe_ffn": "model.expert_ffn",
	"capacity_factor": "model.expert_capacity", "ep_size": "parallel.ep", "expert_parallel_size": "parallel.ep", "etp_size": "parallel.etp",
	"moe_ffn_hidden_size": "model.expert_ffn", "moe_intermediate_size": "model.expert_ffn",
	"moe_shared_expert_intermediate_size": "model.shared_expert_ffn", "moe_expert_capacity_factor": "model.expert_capacity",
	"first_k_dense_replace": "model.dense_layers", "qk_rope_head_dim": "model.rope_head_dim", "qk_nope_head_dim": "model.head_dim",
	"zero_stage": "parallel.zero", "distributed_optimizer": "parallel.zero", "use_distributed_optimizer": "parallel.zero",
	"micro_batch_size": "schedule.microbatch_size", "mbs": "schedule.microbatch_size",
	"num_microbatches": "schedule.microbatches", "gradient_accumulation_steps": "schedule.microbatches", "global_batch_size": "schedule.microbatches",
	"num_virtual_stages": "schedule.virtual_stages", "vpp": "schedule.virtual_stages",
	"activation_checkpointing": "training.recompute", "gradient_checkpointing": "training.recompute", "recompute_granularity": "training.recompute",
	"dtype": "training.precision", "optim": "training.optimizer",
	"gpus": "cluster.nodes", "num_nodes": "cluster.nodes", "nnodes": "cluster.nodes", "nproc_per_node": "cluster.gpus_per_node",
	"pytorch_cuda_alloc_conf": "memory.alloc_conf",
}
