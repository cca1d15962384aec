package keys

var loraKeys = []Key{
	{Path: "lora", Text: "Low-rank adaptation: the model is frozen and adapters are trained. Off while rank is 0."},
	{Path: "lora.rank", Default: "0", Max: 1 << 14,
		Text: "Rank of the adapters, the inner width of their two matrices; 0 trains the model itself."},
	{Path: "lora.targets", Default: `"all"`, Text: "Which matrices get adapters: all of the layers, those of the " +
		"attention, only the query/key/value matrices (qkv), or those of the feed-forward block (mlp); or modules " +
		"by the names of Hugging Face's PEFT, as in \"q_proj,v_proj\". Megatron-LM has one adapter beside its " +
		"matrix of queries, keys and values and one beside that of gate and up, other frameworks and " +
		"modules given by name have one each."},
	{Path: "lora.base", Default: `"16bit"`, Values: []string{"16bit", "8bit", "4bit"},
		Text: "Format of the frozen matrices of the layers: as trained, 8 bits (LLM.int8), or 4 bits (NF4 with " +
			"doubly quantised scales, QLoRA). 8 and 4 bits are widened for each product."},
}

var dataKeys = []Key{
	{Path: "data", Text: "How samples reach the GPU."},
	{Path: "data.workers", Unit: "processes", Default: "0", Max: 1 << 12, Text: "Loader processes."},
	{Path: "data.prefetch", Unit: "batches", Default: "2", Max: 1 << 12,
		Text: "Batches that each loader process keeps ready (prefetch_factor)."},
	{Path: "data.gpu_prefetch", Unit: boolean, Default: "false",
		Text: "The batches that are ready lie on the GPU: workers * prefetch of them."},
	{Path: "data.sample_bytes", Unit: `a size as in "100MiB"`, Default: `"0B"`,
		Text: "Size of a sample as it is loaded; 0B is three 8-byte integers a token (input, mask, label)."},
	{Path: "data.lengths", Default: `"fixed"`, Derived: "fixed, or list when a list is given",
		Values: []string{"fixed", "uniform", "list"},
		Text: "How long sequences are: all of model.seq_len, uniformly from min_length to it, or drawn from a list, " +
			"for every replica on its own. A micro-batch is padded to its longest sequence."},
	{Path: "data.min_length", Unit: "tokens", Default: "1", Max: 1 << 27,
		Text: "Shortest sequence of lengths = \"uniform\"."},
	{Path: "data.length_list", Unit: "tokens", Default: "[]", Max: 1 << 27,
		Text: "Lengths to draw from, each as likely as often as it stands there."},
	{Path: "data.lengths_file", Default: `""`, Text: "Path of a text file of lengths, relative to the scenario, " +
		"separated by blanks or lines; it becomes length_list."},
	{Path: "data.pad", Unit: boolean, Default: "false", Text: "Every sequence is padded to model.seq_len."},
	{Path: "data.steps", Unit: "steps", Default: "8", Min: 1, Max: 1000, Text: "Steps that are simulated where " +
		"lengths differ: the first warms up, the report's figures are means over the others. Else the memory " +
		"account runs the two that make a steady state, and the steady one is simulated."},
}

var evaluationKeys = []Key{
	{Path: "evaluation", Text: "Forward passes through the pipeline behind each step, on sequences of model.seq_len " +
		"without dropout; their time stands beside the step's, not in it."},
	{Path: "evaluation.batches", Unit: "passes", Default: "0", Max: 1 << 12, Text: "Passes behind a step; 0 is none."},
	{Path: "evaluation.batch_size", Unit: "sequences", Default: "0", Max: 1 << 20,
		Text: "Sequences of a pass; 0 is schedule.microbatch_size."},
	{Path: "evaluation.keep_activations", Unit: boolean, Default: "false",
		Text: "The passes run without torch.no_grad: what a backward would need lives to the end of the pass."},
}
