package keys

// frameworkKeys are the keys of [framework]: what the software decides. Presets
// give them all.
var frameworkKeys = []Key{
	{Path: "framework",
		Text: "The software that trains: a preset, and what differs from it. It decides kernels, what is " +
			"kept for the backward, the layout of training state, exchanges between ranks, and what " +
			"launching costs the CPU."},
	{Path: "framework.preset", Derived: "megatron",
		Text: "Name of a framework preset (trainsim list frameworks); the other keys of [framework] " +
			"override single values of it. \"megatron\" is Megatron-Core with Transformer Engine where " +
			"the GPU has FP8 and attention is fused, Megatron-LM's own modules otherwise. \"none\" is compiled " +
			"PyTorch without the time to launch, whose kernels are others than Megatron's and may take longer: " +
			"for Megatron without that time write 0us for those of framework.host."},
	{Path: "framework.name", Derived: "the preset's", Text: "Name of the framework in reports."},
	{Path: "framework.software_date", Unit: `a year and month as in "2024-06"`,
		Derived: "none: the preset's usual values",
		Text: "When the software is from. Presets say what was otherwise at a time, as which attention " +
			"kernel it ran."},
	{Path: "framework.layers", Derived: "the preset's", Values: []string{"plain", "megatron", "transformer-engine"},
		Text: "Whose layers the model is made of, which decides which copies and additions have kernels of " +
			"their own: PyTorch's, Megatron-LM's own, or Transformer Engine's."},
	{Path: "framework.eager_pointwise", Unit: boolean, Derived: "the preset's",
		Text: "RMS norms, rotary embeddings and gates run operator by operator, each from memory to " +
			"memory, as PyTorch does without a compiler."},
	{Path: "framework.flash_kernel", Derived: "the preset's", Values: []string{"newest", "flash2", "flash1"},
		Text: "The kernel that model.attention = \"flash\" stands for: the fastest that the GPU has, " +
			"or FlashAttention's second or first version."},
	{Path: "framework.cross_entropy", Derived: "the preset's", Values: []string{"fused", "flash", "unfused", "plain"},
		Text: "The kernel of the loss that training.cross_entropy = \"auto\" stands for."},
	{Path: "framework.loss_metrics", Unit: "metrics", Derived: "the preset's", Max: 16,
		Text: "What training.loss_metrics is where the scenario does not say."},
	{Path: "framework.weight_grads", Derived: "the preset's", Values: []string{"autograd", "fused", "stand-in"},
		Text: "Where products leave the gradients of weights: tensors of their own (autograd), added to " +
			"fp32 main gradients in the product (fused), or the same with a stand-in of the weights' " +
			"shape for autograd (Transformer Engine)."},
	{Path: "framework.adds_grads", Unit: boolean, Derived: "the preset's",
		Text: "A kernel of its own adds up the gradients of micro-batches, as autograd does."},
	{Path: "framework.selective_recompute", Derived: "the preset's", Values: []string{"attention", "products"},
		Text: "What training.recompute = \"selective\" computes again: the attention core, or all but " +
			"fused attention and every second matrix product."},
	{Path: "framework.fp8_weights", Unit: boolean, Derived: "the preset's",
		Text: "Weights may be kept and gathered in FP8 (training.fp8_param_gather)."},
	{Path: "framework.experts", Unit: boolean, Derived: "the preset's",
		Text: "Mixtures of experts are modelled for the framework."},
	{Path: "framework.vocab_multiple", Unit: "tokens", Derived: "the preset's", Min: 1, Max: 1 << 20,
		Text: "What measured tables pad the vocabulary to, times tp."},
	{Path: "framework.states", Derived: "the preset's", Values: []string{"plain", "megatron", "deepspeed"},
		Text: "How weights, gradients and optimizer states lie in memory below zero = 2: a tensor for each " +
			"parameter with DistributedDataParallel's buckets beside (plain), Megatron's contiguous " +
			"buffers, or DeepSpeed's flat partitions. From zero = 2 on they are FSDP's shards."},
	{Path: "framework.context", Unit: `a size as in "500MiB"`, Derived: "the preset's",
		Text: "The least that the CUDA context takes; a GPU's own may be more (gpu.cuda_context)."},
	{Path: "framework.engine_workspace", Unit: boolean, Derived: "the preset's",
		Text: "Transformer Engine keeps a cuBLAS workspace beside PyTorch's."},
	{Path: "framework.eager_communicators", Unit: boolean, Derived: "the preset's",
		Text: "Every communicator connects rings and trees at its start, as NCCL did before 2.2x."},
	{Path: "framework.keeps_outputs", Unit: boolean, Derived: "the preset's",
		Text: "A stage keeps what it sends until its backward (DeepSpeed's pipeline); Megatron-LM frees it " +
			"once it is sent."},
	{Path: "framework.scatter_gather", Unit: boolean, Derived: "the preset's",
		Text: "Each rank of a tensor parallel group sends its part of a hand-off, which the receivers " +
			"collect over NVLink (Megatron-LM before Megatron-Core, DeepSpeed)."},
	{Path: "framework.serial_tp", Unit: boolean, Derived: "the preset's",
		Text: "Nothing overlaps tensor parallel collectives in the backward."},
	{Path: "framework.ring", Derived: "the preset's", Values: []string{"zigzag", "in-order"},
		Text: "How a context parallel ring cuts a sequence: in zigzag, so that ranks have the same to do, " +
			"or in order, so that the last has the most."},
	{Path: "framework.ring_only", Unit: boolean, Derived: "the preset's",
		Text: "parallel.cp_comm = \"auto\" is always a ring."},
	{Path: "framework.backward_prefetch", Derived: "the preset's", Values: []string{"pre", "post"},
		Text: "What parallel.backward_prefetch is where the scenario does not say."},
	{Path: "framework.host", Text: "What the CPU spends."},
	{Path: "framework.host.forward", Unit: `a time as in "30us"`, Derived: "the preset's",
		Text: "CPU time of an operator in the forward."},
	{Path: "framework.host.backward", Unit: `a time as in "15us"`, Derived: "the preset's",
		Text: "CPU time of an operator in the backward."},
	{Path: "framework.host.collective", Unit: `a time as in "30us"`, Derived: "the preset's",
		Text: "CPU time of issuing a collective."},
	{Path: "framework.host.hand_off", Unit: `a time as in "100us"`, Derived: "the preset's",
		Text: "CPU time of posting a send or a receive between stages."},
	{Path: "framework.host.hand_over", Unit: `a time as in "12us"`, Derived: "the preset's",
		Text: "What a blocking collective costs the GPU beside its own time, for two changes of stream."},
	{Path: "framework.host.arrival", Unit: `a time as in "5us"`, Derived: "the preset's",
		Text: "What a collective inside of a layer takes longer for each rank beyond the first than NCCL's " +
			"own benchmark shows."},
	{Path: "framework.host.loop", Unit: `a time as in "9us"`, Derived: "the preset's",
		Text: "The least time between kernels that compiled code launches in a loop, as over experts."},
	{Path: "framework.host.optimizer", Unit: `a time as in "20us"`, Derived: "the preset's",
		Text: "CPU time of a kernel of the optimizer's step."},
	{Path: "framework.host.sync", Unit: `a time as in "20us"`, Derived: "the preset's",
		Text: "What the CPU needs to get going after it has waited for the GPU."},
	{Path: "framework.host.blocked", Unit: `a time as in "210us"`, Derived: "the preset's",
		Text: "What an operator costs beside its own CPU time with host.launch_blocking."},
	{Path: "framework.host.sync_actions", Unit: boolean, Derived: "the preset's",
		Text: "The CPU waits for the GPU behind every forward and every backward, as Megatron-LM's timers " +
			"do."},
	{Path: "framework.host.sync_p2p", Unit: boolean, Derived: "the preset's",
		Text: "Blocking sends and receives stop the CPU, too."},
}
