package measured

import "slices"

// Column documents one column of a table of measured runs.
type Column struct {
	Name     string
	Required bool
	Values   []string // the words that the column takes, when it takes only some
	Text     string
}

// RunColumns returns the columns of a table of measured runs, in the order in
// which they are usually written. Any order will do.
func RunColumns() []Column { return slices.Clone(runColumns) }

// memoryMetric names a figure of used memory.
type memoryMetric string

// Figures of used memory.
const (
	allocated memoryMetric = "allocated"  // torch.cuda.max_memory_allocated
	reserved  memoryMetric = "reserved"   // torch.cuda.max_memory_reserved
	nvidiaSMI memoryMetric = "nvidia_smi" // with the CUDA context and NCCL's buffers
)

var memoryMetrics = []string{string(allocated), string(reserved), string(nvidiaSMI)}

var flags = []string{"0", "1"}

var runColumns = []Column{
	{"id", true, nil, "free text; the part before its last dash is the row's family"},
	{"source", false, nil, "free text"},
	{"model", false, nil, "free text"},
	{"layers", true, nil, "transformer layers"},
	{"hidden", true, nil, "width of the residual stream"},
	{"heads", true, nil, "query heads"},
	{"kv_heads", false, nil, "key/value heads; empty: heads"},
	{"ffn", true, nil, "width of one projection of the feed-forward block"},
	{"mlp", true, []string{"gelu", "swiglu", "geglu", "relu"}, "kind of feed-forward block"},
	{"norm", true, []string{"layernorm", "rmsnorm"}, "kind of normalisation"},
	{"vocab", true, nil, "tokens of the vocabulary"},
	{"tie_embeddings", false, flags, "the head uses the embedding's weights"},
	{"seq", true, nil, "tokens of a sequence"},
	{"cluster", true, nil, "name of a cluster preset"},
	{"gpus", true, nil, "GPUs of the job"},
	{"tp", true, nil, "tensor parallel size"},
	{"pp", true, nil, "pipeline parallel size"},
	{"dp", true, nil, "data parallel size"},
	{"vpp", false, nil,
		"chunks a pipeline rank; empty: the most that divide the layers, where the schedule is interleaved"},
	{"cp", false, nil, "context parallel size; empty: 1"},
	{"ep", false, nil, "expert parallel size; empty: 1"},
	{"etp", false, nil, "tensor parallel size of an expert; empty: tp"},
	{"experts", false, nil, "routed experts of a layer; empty: a dense model"},
	{"experts_per_token", false, nil, "experts that each token is sent to"},
	{"expert_ffn", false, nil, "width of one projection of an expert; empty: ffn"},
	{"shared_expert_ffn", false, nil, "width of the shared experts together"},
	{"dense_layers", false, nil, "first layers, without experts"},
	{"expert_capacity", false, nil,
		"how many times the mean the experts are filled up to; empty: as many tokens as come"},
	{"head_dim", false, nil, "width of a head; empty: hidden / heads"},
	{"kv_lora_rank", false, nil, "latent attention: width of the latent of keys and values"},
	{"q_lora_rank", false, nil, "latent attention: width of the queries' latent"},
	{"rope_head_dim", false, nil, "latent attention: part of a head with positions, beside head_dim"},
	{"v_head_dim", false, nil, "latent attention: width of a value's head; empty: head_dim"},
	{"sequence_parallel", false, flags, "norms and dropouts work on a tp-th of the sequence"},
	{"fsdp", false, nil, "ranks that share a shard of ZeRO 2 or 3; empty: dp"},
	{"microbatch_size", true, nil, "sequences of a micro-batch"},
	{"microbatches", true, nil, "micro-batches of a step and pipeline"},
	{"schedule", true, nil,
		"none, or a pipeline schedule; zb-auto-1p and zb-auto-2p say how many activations a rank may hold"},
	{"first_last_layers", false, []string{"even", "embedding-balanced", "one-fewer-each"},
		"how the layers are split; empty: evenly"},
	{"recompute", false, []string{"none", "selective", "full"}, "what is recomputed in the backward; empty: none"},
	{"zero", false, []string{"0", "1", "2", "3"}, "what is sharded over the replicas"},
	{"precision", true, []string{"fp32", "tf32", "fp16", "bf16", "fp8"}, "format of the matrix products"},
	{"grad_precision", false, []string{"fp32", "fp16", "bf16"}, "format in which gradients add up; empty: fp32"},
	{"attention", true, []string{"flash", "flash1", "flash2", "unfused"}, "how the attention core is computed"},
	{"dropout", false, flags, "dropout is on"},
	{"overlap_grad_reduce", false, flags, "gradients are reduced while the backward runs"},
	{"overlap_param_gather", false, flags, "parameters are gathered while the forward runs"},
	{"overlap_tp", false, flags, "tensor parallel collectives run behind the matrix products"},
	{"iter_time_s", false, nil, "measured seconds a step"},
	{"tflops_per_gpu", false, nil, "measured rate, where no time was published"},
	{"flops_basis", false, []string{"model", "hardware"}, "what the rate counts: hardware includes recomputation"},
	{"peak_mem_gib", false, nil, "measured peak of the fullest GPU, GiB"},
	{"mem_metric", false, memoryMetrics, "which figure the peak is"},
	{"outcome", false, []string{"ok", "oom"}, "oom: the run ran out of memory; empty: ok"},
	{"quality", false, nil, "how well the row is known: A fully, B with something inferred"},
	{"notes", false, nil, "free text"},
	{"software", false, nil,
		"name of a framework preset (trainsim list frameworks); " +
			"empty: megatron-core-te on GPUs with FP8, megatron-lm on others"},
	{"software_date", false, nil, "year and month of the software, as in 2024-06"},
	{"environment", false, nil, "variables and modes that matter, separated by semicolons: CUDA_LAUNCH_BLOCKING=1, " +
		"CUDA_DEVICE_MAX_CONNECTIONS=1, deterministic"},
	{"cp_comm", false, []string{"p2p", "a2a"}, "how context parallel ranks exchange; empty: the software's default"},
}

// rankMemoryColumns are the columns of a table of rank memory.
var rankMemoryColumns = append([]Column{
	{"source", false, nil, "free text"},
	{"kind", false, nil, "free text"},
	{"provenance", false, nil, "free text"},
	{"notes", false, nil, "free text"},
	{"model", true, nil, "name of a model preset, separators aside"},
	{"layers", true, nil, "transformer layers; empty: the preset's"},
	{"seq", true, nil, "tokens of a sequence"},
	{"rank", true, nil,
		"global rank, from 0; tensor parallel varies fastest, then context, data and pipeline parallel"},
	{"pp_stage", false, nil, "the rank's pipeline rank, from 0; empty: that of the rank"},
	{"microbatches", true, nil, "micro-batches of a step and pipeline; empty: pp"},
	{"microbatch_size", false, nil, "sequences of a micro-batch; empty: 1"},
	{"max_allocated_mb", false, nil, "torch.cuda.max_memory_allocated in MiB"},
	{"max_reserved_mb", false, nil, "torch.cuda.max_memory_reserved in MiB"},
}, slices.Concat(ofRuns(true, "tp", "pp", "dp"), ofRuns(false, "cluster", "kv_heads", "cp", "ep", "etp",
	"dense_layers", "expert_capacity", "vpp", "fsdp", "sequence_parallel", "schedule",
	"first_last_layers", "recompute", "zero", "precision", "grad_precision", "attention", "dropout",
	"overlap_grad_reduce", "overlap_param_gather", "overlap_tp", "software", "software_date", "environment",
	"cp_comm"))...)

// ofRuns returns columns of a table of runs.
func ofRuns(required bool, names ...string) []Column {
	var out []Column
	for _, c := range runColumns {
		if slices.Contains(names, c.Name) {
			c.Required = required
			out = append(out, c)
		}
	}
	return out
}

// columnNames returns the names of columns.
func columnNames(columns []Column) []string {
	out := make([]string, len(columns))
	for i := range columns {
		out[i] = columns[i].Name
	}
	return out
}
