package keys

const boolean = "true or false"

// generalKeys are the keys outside all tables, and those of [memory] and [host].
var generalKeys = []Key{
	{Path: "name", Derived: "the file's name without .toml",
		Text: "Name of the scenario: the title of its report and figures, and the name of the folder they go to."},
	{Path: "description", Default: `""`, Text: "One line that says what the scenario is about."},
	{Path: "seed", Default: "0", Max: 1 << 53,
		Text: "Seed of every random stream of the run. The same scenario and seed give the same bytes of output."},
	{Path: "memory", Text: "What the caching allocator is told."},
	{Path: "memory.alloc_conf", Default: `""`, Text: "Settings of PyTorch's caching allocator in the grammar of " +
		"PYTORCH_CUDA_ALLOC_CONF, as in \"expandable_segments:True\"."},
	{Path: "memory.memory_fraction", Unit: "share of the device memory", Default: "1.0", Max: 1,
		Text: "Share of the device memory that the allocator may use (torch.cuda.set_per_process_memory_fraction)."},
	{Path: "host", Text: "The CPU side of a rank."},
	{Path: "host.launch_blocking", Unit: boolean, Default: "false", Text: "The host waits for every kernel " +
		"(CUDA_LAUNCH_BLOCKING=1), so that no launch hides behind the kernel before."},
	{Path: "host.framework", Derived: "framework.preset", Text: "Another name for framework.preset."},
}

var modelKeys = []Key{
	{Path: "model", Text: "The transformer: a preset, a Hugging Face config, or its widths, and the sequence length."},
	{Path: "model.preset", Derived: "none: write the widths", Text: "Name of a model preset (trainsim list models); " +
		"the other keys of [model] override single values of it."},
	{Path: "model.hf_config", Derived: "none", Text: "Path of a Hugging Face config.json, relative to the scenario; " +
		"the other keys of [model] override single values of it."},
	{Path: "model.name", Derived: "the preset's name, or custom", Text: "Name of the model in reports."},
	{Path: "model.layers", Unit: "layers", Min: 1, Max: 10000,
		Text: "Transformer layers, without embedding and head."},
	{Path: "model.hidden", Unit: "elements", Min: 1, Max: 1 << 20, Text: "Width of the residual stream."},
	{Path: "model.heads", Unit: "heads", Min: 1, Max: 4096, Text: "Query heads of a layer."},
	{Path: "model.kv_heads", Unit: "heads", Derived: "heads", Max: 4096,
		Text: "Key/value heads of a layer; fewer than heads is grouped-query attention, 1 is multi-query."},
	{Path: "model.head_dim", Unit: "elements", Derived: "hidden / heads", Max: 8192,
		Text: "Width of one attention head."},
	{Path: "model.ffn", Unit: "elements", Derived: "4 * hidden for the kinds of mlp without a gate", Min: 1,
		Max: 1 << 22, Text: "Width of one projection of the feed-forward block."},
	{Path: "model.vocab", Unit: "tokens", Min: 1, Max: 1 << 30, Text: "Rows of the token embedding."},
	{Path: "model.max_positions", Unit: "positions", Derived: "seq_len when position is learned", Max: 1 << 30,
		Text: "Rows of the learned position table."},
	{Path: "model.seq_len", Unit: "tokens", Derived: "the preset's training length", Min: 1, Max: 1 << 27,
		Text: "Tokens of one sequence in training."},
	{Path: "model.mlp", Default: `"gelu"`, Values: []string{"gelu", "swiglu", "geglu", "relu"},
		Text: "Kind of feed-forward block: two matrices with GELU or ReLU between them, or three (gate, up, down) " +
			"with SwiGLU or GeGLU."},
	{Path: "model.norm", Default: `"layernorm"`, Values: []string{"layernorm", "rmsnorm"},
		Text: "Kind of normalisation: layernorm has a weight and a bias, rmsnorm a weight."},
	{Path: "model.position", Default: `"learned"`, Values: []string{"learned", "rope", "alibi", "none"},
		Text: "How positions enter: a learned table, rotary embedding, ALiBi slopes, or not at all."},
	{Path: "model.attention", Default: `"flash"`, Values: []string{"flash", "flash2", "flash1", "unfused"},
		Text: "How the attention core is computed: flash is the fastest fused kernel that the GPU has, without an s " +
			"x s matrix in memory; flash2 the same by FlashAttention-2, as PyTorch itself takes on Hopper; flash1 " +
			"by its slower first version; unfused is QK^T, masked softmax, dropout and AV as kernels of their own."},
	{Path: "model.tie_embeddings", Unit: boolean, Default: "true",
		Text: "The head uses the token embedding's weights."},
	{Path: "model.linear_bias", Unit: boolean, Default: "true",
		Text: "Biases on the attention output and the feed-forward matrices."},
	{Path: "model.qkv_bias", Unit: boolean, Default: "true", Text: "Biases on the query, key and value matrices."},
	{Path: "model.qk_norm", Unit: boolean, Default: "false",
		Text: "A norm over head_dim on queries and keys (Qwen3, Gemma 3)."},
	{Path: "model.post_norms", Unit: boolean, Default: "false",
		Text: "Further norms after attention and feed-forward block (Gemma 2 and 3)."},
	{Path: "model.parallel_block", Unit: boolean, Default: "false",
		Text: "Attention and feed-forward block side by side on the same input (GPT-NeoX)."},
	{Path: "model.shared_norm", Unit: boolean, Default: "false",
		Text: "One norm feeds both halves of a parallel block."},
	{Path: "model.embedding_norm", Unit: boolean, Default: "false", Text: "A norm after the embedding (BLOOM, BERT)."},
	{Path: "model.final_norm", Unit: boolean, Default: "true", Text: "A norm between the last layer and the head."},
	{Path: "model.token_types", Unit: "rows", Default: "0", Max: 1 << 16,
		Text: "Rows of the token-type table (BERT has 2)."},
	{Path: "model.bidirectional", Unit: boolean, Default: "false",
		Text: "Every token attends to every other, without a causal mask (BERT)."},
	{Path: "model.head_transform", Unit: boolean, Default: "false",
		Text: "A dense layer, GELU and norm before the head (BERT's masked-language-model head)."},
	{Path: "model.head_bias", Unit: boolean, Default: "false", Text: "A bias over the vocabulary in the head."},
	{Path: "model.bare", Unit: boolean, Default: "false", Text: "Leaves out embedding, head and loss: transformer " +
		"layers alone, for comparing schedules with their closed forms."},
	{Path: "model.vocab_multiple", Unit: "tokens", Default: "128", Max: 1 << 20, Text: "The vocabulary is padded to " +
		"a multiple of this times tp (Megatron's make-vocab-size-divisible-by, 128 there); 0 pads to tp only."},
	{Path: "model.experts", Unit: "experts", Default: "0", Max: 1 << 16,
		Text: "Routed experts of a layer; 0 is a dense model. Tokens are taken to be spread evenly over them."},
	{Path: "model.experts_per_token", Unit: "experts", Default: "0", Max: 1 << 12,
		Text: "Experts that each token is sent to (top-k)."},
	{Path: "model.expert_ffn", Unit: "elements", Derived: "ffn", Max: 1 << 22,
		Text: "Width of one projection of one expert."},
	{Path: "model.shared_expert_ffn", Unit: "elements", Default: "0", Max: 1 << 22,
		Text: "Width of the shared experts, which see every token, together; 0 is none."},
	{Path: "model.shared_expert_gate", Unit: boolean, Default: "false",
		Text: "A gate scales what the shared experts give (Qwen2-MoE)."},
	{Path: "model.dense_layers", Unit: "layers", Default: "0", Max: 10000,
		Text: "First layers, which have a feed-forward block of width ffn instead of experts."},
	{Path: "model.expert_capacity", Unit: "share of the mean", Default: "0.0", Max: 1024,
		Text: "Experts are filled up, or cut, to so many times the mean number of tokens (Megatron's " +
			"moe-expert-capacity-factor with padding); 0 takes the tokens as they come."},
	{Path: "model.kv_lora_rank", Unit: "elements", Default: "0", Max: 1 << 20, Text: "Width of the latent that keys " +
		"and values come from (DeepSeek's multi-head latent attention); 0 is attention without latents."},
	{Path: "model.q_lora_rank", Unit: "elements", Default: "0", Max: 1 << 20,
		Text: "Width of the latent that queries come from; 0 takes them from the layer's input."},
	{Path: "model.rope_head_dim", Unit: "elements", Default: "0", Max: 8192,
		Text: "Latent attention: the part of a query's and key's head that carries the position, beside head_dim."},
	{Path: "model.v_head_dim", Unit: "elements", Derived: "head_dim", Max: 8192,
		Text: "Latent attention: width of a value's head."},
}

var parallelKeys = []Key{
	{Path: "parallel", Text: "The layout of the job: gpus = tp * cp * dp * pp."},
	{Path: "parallel.tp", Unit: "ranks", Default: "1", Min: 1, Max: 1 << 16,
		Text: "Tensor parallel size: over how many ranks each layer's matrices are split."},
	{Path: "parallel.pp", Unit: "ranks", Default: "1", Min: 1, Max: 1 << 12,
		Text: "Pipeline parallel size: over how many ranks the layers are split."},
	{Path: "parallel.dp", Unit: "ranks", Derived: "gpus / (tp * pp * cp)", Min: 1, Max: 1 << 20,
		Text: "Data parallel size: how many replicas train on different samples."},
	{Path: "parallel.cp", Unit: "ranks", Default: "1", Min: 1, Max: 1 << 16,
		Text: "Context parallel size: over how many ranks each sequence is split. It needs a fused attention kernel."},
	{Path: "parallel.ep", Unit: "ranks", Default: "1", Min: 1, Max: 1 << 16, Text: "Expert parallel size: over how " +
		"many ranks of a pipeline stage the experts of a layer are split, across data and context parallel ranks " +
		"and, with etp = 1, tensor parallel ones; 1 for a model without experts."},
	{Path: "parallel.etp", Unit: "ranks", Derived: "tp", Min: 1, Max: 1 << 16, Text: "Expert tensor parallel size: " +
		"over how many ranks each expert is cut, 1 or tp. The ranks of a pipeline stage are etp * ep * replicas of " +
		"the experts."},
	{Path: "parallel.cp_comm", Default: `"auto"`, Values: []string{"auto", "p2p", "a2a"},
		Text: "How context parallel ranks exchange: p2p passes keys and values around a ring beside the attention; " +
			"a2a trades sequence for heads by all-to-all (Ulysses); auto is a2a where tp * cp divides the heads and " +
			"NVLink joins the ranks, under Megatron. Plain PyTorch cuts the sequence in order for its ring, so " +
			"that the last rank has the most to do; Megatron cuts it in zigzag."},
	{Path: "parallel.sequence_parallel", Unit: boolean, Default: "false", Text: "Norms and dropouts between the " +
		"tensor parallel regions work on a tp-th of the sequence each; all-reduces become reduce-scatters and " +
		"all-gathers."},
	{Path: "parallel.zero", Unit: "stage", Default: "0", Max: 3, Text: "Which state is sharded over the data " +
		"parallel ranks: 1 optimizer state (Megatron's distributed optimizer), 2 also gradients, 3 also weights " +
		"(FSDP full shard). In a pipeline 2 and 3 are alike: weights and gradients are whole from the first " +
		"forward to the last backward of a step, as gathering and scattering them for every micro-batch " +
		"pays for nobody."},
	{Path: "parallel.fsdp_group", Unit: "ranks", Default: "0", Max: 1 << 20, Text: "Replicas over which ZeRO 2 or 3 " +
		"spreads a shard (hybrid sharding), the context parallel ranks of each with them; 0 is all of dp."},
	{Path: "parallel.backward_prefetch", Derived: "framework.backward_prefetch", Values: []string{"pre", "post"},
		Text: "When zero = 3 gathers the next unit's parameters in the backward: pre, beside the present unit; " +
			"post, behind the scatter of its gradients, which saves memory and hides less (FSDP's BACKWARD_PRE and " +
			"BACKWARD_POST)."},
	{Path: "parallel.overlap_grad_reduce", Unit: boolean, Default: "false",
		Text: "Gradients are reduced bucket by bucket while the backward still runs."},
	{Path: "parallel.overlap_param_gather", Unit: boolean, Default: "false",
		Text: "Parameters are gathered bucket by bucket while the next forward already runs."},
	{Path: "parallel.overlap_tp", Unit: boolean, Default: "false",
		Text: "Tensor parallel collectives are cut up and run behind the matrix products beside them."},
	{Path: "parallel.grad_bucket", Unit: `a size as in "25MiB"`, Default: `"0B"`, Text: "Bytes of gradients that " +
		"one overlapped data parallel collective carries; 0B is the framework's own rule."},
}

var scheduleKeys = []Key{
	{Path: "schedule", Text: "The pipeline schedule and how the batch is cut."},
	{Path: "schedule.kind", Default: `"1f1b"`, Derived: "1f1b, or csv when file is given",
		Text: "Name of the pipeline schedule (trainsim list schedules), or \"csv\" for one read from a file."},
	{Path: "schedule.microbatches", Unit: "micro-batches", Default: "1", Min: 1, Max: 1 << 20,
		Text: "Micro-batches that each replica runs a step. The global batch is microbatches * microbatch_size * " +
			"dp. \"chunks\" is another name for it."},
	{Path: "schedule.chunks", Unit: "micro-batches", Derived: "microbatches", Min: 1,
		Text: "Another name for microbatches (torch's Pipe)."},
	{Path: "schedule.microbatch_size", Unit: "sequences", Default: "1", Min: 1, Max: 1 << 20,
		Text: "Sequences of one micro-batch."},
	{Path: "schedule.virtual_stages", Unit: "chunks a rank", Derived: "the schedule's own", Max: 1 << 14,
		Text: "Model chunks that each pipeline rank holds (interleaved schedules)."},
	{Path: "schedule.group_size", Unit: "micro-batches", Default: "0", Max: 1 << 20,
		Text: "Interleaved schedules: how many micro-batches run through one chunk before the next; 0 is pp."},
	{Path: "schedule.memory_cap", Unit: "chunk activations", Default: "0", Max: 1 << 20,
		Text: "Automatic schedules (zb-auto, v-adaptive): the most chunk activations that a rank keeps alive; 0 is " +
			"the schedule's own."},
	{Path: "schedule.first_last_layers", Default: `"even"`,
		Values: []string{"even", "embedding-balanced", "one-fewer-each", "auto", "auto-memory"},
		Text: "How the layers are split over the stages: even needs a divisor; embedding-balanced counts embedding " +
			"and head as one layer each; one-fewer-each gives the first and the last stage one layer fewer; auto " +
			"splits so that the stages take the same time, auto-memory so that the highest peak of memory is as " +
			"low as moving layers makes it."},
	{Path: "schedule.layers_per_stage", Unit: "layers", Derived: "first_last_layers", Max: 100000,
		Text: "Layers of every stage, from the first to the last " +
			"(pp * virtual_stages numbers that add up to layers)."},
	{Path: "schedule.no_optimizer_barrier", Unit: boolean, Default: "false", Text: "Every rank begins its next step " +
		"when it is done, without waiting for the gradient norm of the others (the zero-bubble papers' " +
		"post-validation); the step is then the longest span of a rank."},
	{Path: "schedule.blocking_p2p", Unit: boolean, Default: "false", Text: "Sends and receives stop the compute " +
		"stream, as in Megatron-LM's plain 1F1B. Schedules whose neighbours send to each other at the same time " +
		"deadlock with it."},
	{Path: "schedule.file", Default: `""`, Text: "Path of a schedule in the CSV notation of " +
		"torch.distributed.pipelining, relative to the scenario; with kind = \"csv\"."},
	{Path: "schedule.csv", Default: `""`, Derived: "the content of file",
		Text: "The schedule of kind = \"csv\" itself, in place of a file."},
}

var faultKeys = []Key{
	{Path: "faults", Text: "Departures from a healthy cluster; the report says what they cost."},
	{Path: "faults.slow_links", Default: "[]", Text: "Links that keep a part of their speed, as in " +
		"[\"node0/nic0/tx=0.5\", \"node3/nic0/=0.1@200ms\"]: NAME=FACTOR, from a TIME of the step on; a name that " +
		"ends in / means all links below it."},
	{Path: "faults.slow_gpus", Default: "[]", Text: "Ranks whose kernels keep a part of their speed, as in " +
		"[\"5=0.8\"]: RANK=FACTOR, from a TIME of the step on."},
	{Path: "faults.jitter", Unit: "share", Default: "0.0", Max: 1,
		Text: "Standard deviation of every kernel's time, as a share of it, drawn from the scenario's seed."},
}

var trainingKeys = []Key{
	{Path: "training", Text: "Precision, optimizer and recomputation."},
	{Path: "training.precision", Default: `"bf16"`, Values: []string{"fp32", "fp16", "bf16", "fp8"},
		Text: "Number format of the matrix products. Except with fp32, weights are kept in 16 bits beside a 32-bit " +
			"master copy in the optimizer."},
	{Path: "training.fp8_param_gather", Unit: boolean, Default: "false", Text: "Megatron-LM's flag: with precision " +
		"fp8, the layers' matrices are kept and gathered in 8 bits instead of as 8-bit copies beside weights of 16 " +
		"bits."},
	{Path: "training.grad_precision", Default: `"fp32"`, Values: []string{"fp32", "bf16", "fp16"},
		Text: "Number format in which gradients accumulate and are reduced."},
	{Path: "training.optimizer", Default: `"adam"`, Values: []string{"adam", "sgd", "sgd-momentum", "adam-8bit",
		"adafactor"}, Text: "The optimizer, which decides how many bytes of state a parameter has."},
	{Path: "training.recompute", Default: `"none"`, Values: []string{"none", "selective", "full", "every-n", "sqrt"},
		Text: "Which activations are computed again in the backward: none; selective, the attention core, or under " +
			"plain PyTorch with a fused attention kernel all but that and every second matrix product; full, every " +
			"layer from its input; every-n, from the input of every recompute_layers-th layer; sqrt, from about " +
			"the square root of the stage's layers."},
	{Path: "training.recompute_layers", Unit: "layers", Default: "1", Max: 100000,
		Text: "every-n: the layers from one kept input to the next."},
	{Path: "training.cross_entropy", Default: `"auto"`, Values: []string{"auto", "fused", "flash", "unfused", "plain"},
		Text: "How the loss is computed: unfused works on one fp32 copy of the logits (Megatron-LM), fused is one " +
			"kernel that overwrites the logits by their gradient (Transformer Engine's), flash reads the logits as " +
			"they are and writes the gradient beside them in the backward (FlashAttention's), plain is " +
			"PyTorch's cross_entropy with a log-softmax and gradients as fp32 tensors of their own; auto is " +
			"fused where Megatron-Core runs on Blackwell or newer, and plain outside Megatron."},
	{Path: "training.loss_metrics", Unit: "metrics", Derived: "framework.loss_metrics", Max: 16,
		Text: "Training metrics that compute " +
			"the cross-entropy once more on the logits, in fp32, behind each micro-batch's backward: Composer has " +
			"two " +
			"by default, cross-entropy and perplexity."},
	{Path: "training.dropout", Unit: boolean, Default: "false",
		Text: "Dropout after attention and feed-forward block, with its masks in memory."},
}
