package keys

var clusterKeys = []Key{
	{Path: "cluster",
		Text: "The machines: a preset or a gpu and its surroundings, and how many nodes. Rates are one direction's."},
	{Path: "cluster.preset", Derived: "none: write gpu and what is around it", Text: "Name of a cluster preset " +
		"(trainsim list clusters); the other keys of [cluster] override single values of it."},
	{Path: "cluster.gpu", Derived: "the cluster preset's",
		Text: "Name of the GPU preset (trainsim list gpus); the keys of [gpu] override single values of it."},
	{Path: "cluster.topology", Derived: "none", Text: "A node's matrix as `nvidia-smi topo -m` prints it: the path " +
		"of a file, relative to the scenario, or the text itself. It overrides kind, the PCIe tree and the place of " +
		"the cards."},
	{Path: "cluster.nodes", Unit: "machines", Default: "1", Min: 1, Max: 1 << 20, Text: "Number of machines."},
	{Path: "cluster.gpus_per_node", Unit: "GPUs", Derived: "the preset's, or the topology's", Min: 0, Max: 1024,
		Text: "GPUs in a machine."},
	{Path: "cluster.kind", Default: `"pcie"`, Values: []string{"pcie", "nvswitch", "nvlink-mesh", "nvlink-pairs",
		"islands", "cube-mesh"},
		Text: "How the GPUs of a node are joined: only PCIe; NVSwitch; a mesh of NVLinks; bridges between pairs; " +
			"meshes of island_size; the hybrid cube mesh of DGX-1."},
	{Path: "cluster.compute_capability", Derived: "the GPU's",
		Text: "CUDA's number of the GPU's generation times ten, as in 90: it selects NCCL's constants."},
	{Path: "cluster.cpu", Default: `"amd"`, Text: "The processor's family, which NCCL's tuning asks for."},
	{Path: "cluster.nvlinks", Unit: "links", Default: "0", Max: 4096, Text: "NVLinks of a GPU."},
	{Path: "cluster.nvlink_bandwidth", Unit: `a rate as in "25GB/s"`, Default: `"0B/s"`,
		Text: "Line rate of one NVLink in one direction."},
	{Path: "cluster.nvlink_efficiency", Unit: "share of the line rate", Default: `1.0`, Max: 1,
		Text: "Part of the line rate that copies reach."},
	{Path: "cluster.nvlink_latency", Unit: `a time as in "1us"`, Default: `"0s"`, Text: "Latency of one crossing."},
	{Path: "cluster.nvlink_domain", Unit: "GPUs", Derived: "a node's GPUs", Max: 1024,
		Text: "GPUs that one set of NVSwitches joins across nodes, as in a rack of 72 GPUs in trays of four; a " +
			"multiple of gpus_per_node. Nodes are spread evenly over as few domains as hold them."},
	{Path: "cluster.island_size", Unit: "GPUs", Default: "0", Max: 4096,
		Text: "GPUs that NVLink joins when kind is islands."},
	{Path: "cluster.pcie_gen", Unit: "generation", Default: `4`, Max: 6,
		Text: "Generation of the GPUs' slots; beside a topology the built-in GPU's own."},
	{Path: "cluster.pcie_width", Unit: "lanes", Default: `16`, Max: 4096, Text: "Lanes of a slot."},
	{Path: "cluster.pcie_bandwidth", Unit: `a rate as in "25GB/s"`,
		Derived: "by generation and width, about 80 % of the line rate", Text: "What DMA reaches through a slot."},
	{Path: "cluster.pcie_latency", Unit: `a time as in "0.3us"`, Default: `"300ns"`,
		Text: "Latency of one link of the PCIe tree."},
	{Path: "cluster.gpus_per_switch", Unit: "GPUs", Default: "0", Max: 4096,
		Text: "GPUs on one PCIe switch; 0 for root ports of their own."},
	{Path: "cluster.gpus_per_upper_switch", Unit: "GPUs", Default: "0", Max: 4096,
		Text: "GPUs that share a second-level switch; 0 for none."},
	{Path: "cluster.gpus_per_host_bridge", Unit: "GPUs", Default: "0", Max: 4096,
		Text: "GPUs that share a host bridge; 0 for one bridge a switch, or a GPU where there is no switch."},
	{Path: "cluster.sockets", Unit: "sockets", Derived: "2, or 1 for a single GPU", Max: 4096,
		Text: "CPU sockets (NUMA nodes) of a machine."},
	{Path: "cluster.socket_bandwidth", Unit: `a rate as in "16GB/s"`, Derived: "by cpu, as NCCL assumes",
		Text: "What copies between GPUs of two sockets reach over the link between the sockets."},
	{Path: "cluster.host_memory_bandwidth", Unit: `a rate as in "100GB/s"`, Default: `"100GB/s"`,
		Text: "A socket's memory bandwidth, which copies through host memory use twice."},
	{Path: "cluster.host_copy_efficiency", Unit: "share of the links' rate", Default: "0.47", Max: 1,
		Text: "Part of its links' rate that a copy from GPU to GPU through host memory reaches; machines differ " +
			"more here than anywhere else."},
	{Path: "cluster.no_p2p", Unit: boolean, Default: "false", Text: "The driver offers no peer-to-peer copies, as " +
		"on consumer cards: GPUs reach each other through host memory. Beside a topology the built-in GPU's own."},
	{Path: "cluster.nics", Unit: "cards", Default: "0", Max: 4096,
		Text: "Network cards of a node that carry training traffic."},
	{Path: "cluster.nic_bandwidth", Unit: `a rate as in "400Gb/s"`, Default: `"0B/s"`,
		Text: "Line rate of one card in one direction."},
	{Path: "cluster.nic_efficiency", Unit: "share of the line rate", Default: `1.0`, Max: 1,
		Text: "Part of the line rate that RDMA reaches."},
	{Path: "cluster.nic_affinity", Default: `"rail"`, Values: []string{"rail", "shared", "off-socket"},
		Text: "Where the cards are attached: on the PCIe switch of their GPUs, on the socket of the GPUs that share " +
			"them, or all on the last socket."},
	{Path: "cluster.nic_latency", Unit: `a time as in "2us"`, Default: `"0s"`,
		Text: "Latency of one crossing from card to card."},
	{Path: "cluster.plugin_latency", Unit: `a time as in "35us"`, Default: `"0s"`,
		Text: "Latency that the network's plugin reports to NCCL, which adds it to every step between nodes, twice " +
			"under the Simple protocol; 0 for InfiniBand and RoCE."},
	{Path: "cluster.nic_unordered", Unit: boolean, Default: "false", Text: "The cards may deliver bytes out of " +
		"order, so that the network's plugin leaves only the Simple protocol between nodes."},
	{Path: "cluster.no_gpudirect", Unit: boolean, Default: "false",
		Text: "Cards cannot read GPU memory, so that traffic passes through host memory."},
	{Path: "cluster.fabric", Default: `"non-blocking"`, Values: []string{"non-blocking", "fat-tree", "rails"},
		Text: "The network between the nodes."},
	{Path: "cluster.nodes_per_leaf", Unit: "machines", Default: `32`, Max: 4096,
		Text: "Nodes below one leaf switch of a fat tree, or one set of rail switches."},
	{Path: "cluster.oversubscription", Unit: "ratio", Default: `1.0`, Max: 10000,
		Text: "How much more traffic enters a leaf switch from below than its uplinks carry."},
	{Path: "cluster.visible_devices", Unit: "GPU numbers", Derived: "all, in order",
		Text: "Physical GPUs of a node in the order in which the job sees them (CUDA_VISIBLE_DEVICES)."},
}

var gpuKeys = []Key{
	{Path: "gpu", Derived: "the preset that [cluster] names",
		Text: "The device: what its data sheet says, and the fitted parameters that turn a kernel into a time."},
	{Path: "gpu.preset", Derived: "cluster.gpu",
		Text: "Name of the GPU preset that the other keys of [gpu] override."},
	{Path: "gpu.name", Derived: "the preset's name", Text: "Name of the device in reports."},
	{Path: "gpu.description", Derived: "the preset's", Text: "One line that says what the device is."},
	{Path: "gpu.architecture", Derived: "the preset's",
		Text: "NVIDIA's name of the chip's generation, as in \"hopper\". It informs only; compute_capability " +
			"decides."},
	{Path: "gpu.compute_capability", Derived: "the preset's",
		Text: "CUDA's number of the generation times ten, as in 90."},
	{Path: "gpu.sms", Unit: "multiprocessors", Derived: "the preset's",
		Text: "Streaming multiprocessors that are enabled."},
	{Path: "gpu.boost_clock", Unit: `a clock rate as in "1755MHz"`, Derived: "the preset's",
		Text: "Boost clock at which the peak rates are quoted. It informs only."},
	{Path: "gpu.power_limit", Unit: `a power as in "700W"`, Derived: "the preset's",
		Text: "The board's power limit. It informs only; what it does to the clock is in [gpu.power]."},
	{Path: "gpu.memory", Unit: `a size as in "80GiB"`, Derived: "the preset's",
		Text: "Device memory as the driver reports it."},
	{Path: "gpu.memory_bandwidth", Unit: `a rate as in "3.35TB/s"`, Derived: "the preset's",
		Text: "The data sheet's peak memory bandwidth."},
	{Path: "gpu.peak", Derived: "the preset's", Text: "The data sheet's dense tensor-core rate of a number format, " +
		"the denominator of MFU; 0 for a format that the device lacks."},
	{Path: "gpu.cuda_context", Unit: `a size as in "500MiB"`, Derived: "the preset's",
		Text: "Memory that a CUDA context takes, which nvidia-smi shows and the framework's allocator does not."},
	{Path: "gpu.cuda_malloc", Unit: `a time as in "250us"`, Derived: "the preset's",
		Text: "The driver's time for one cudaMalloc."},
	{Path: "gpu.cuda_free", Unit: `a time as in "300us"`, Derived: "the preset's",
		Text: "The driver's time for one cudaFree."},
	{Path: "gpu.launch_gap", Unit: `a time as in "1us"`, Derived: "the preset's",
		Text: "The GPU's own time between two kernels of a stream."},
	{Path: "gpu.variation", Unit: "share of the rate", Derived: "the preset's", Text: "Standard deviation of the " +
		"rate at which cards of this model compute. A job goes at the pace of its slowest card: matrix products and " +
		"attention take longer by the expected worst of its GPUs."},
	{Path: "gpu.gemm", Derived: "the preset's", Text: "Fitted parameters of matrix products: the tiles to choose " +
		"from, and the shares of the peak rates that they reach."},
	{Path: "gpu.attention", Derived: "the preset's", Text: "Fitted parameters of fused attention kernels."},
	{Path: "gpu.streaming", Derived: "the preset's",
		Text: "Shares of the memory bandwidth that kernels bound by memory traffic reach, by class."},
}

var ncclKeys = []Key{
	{Path: "nccl", Text: "How collectives are carried out: NCCL's environment variables, and which model is used."},
	{Path: "nccl.model", Default: `"nccl"`, Values: []string{"nccl", "ideal", "free"},
		Text: "nccl: NCCL's algorithms, protocols and channels; ideal: rings at the links' own latency and " +
			"bandwidth, 2(p-1)(latency + S/pB) for an all-reduce, with the latency of the slowest hop; free: no " +
			"communication takes time, for comparing schedules with closed forms. Ideal rings are no lower bound: " +
			"NVLink SHARP adds up in the switches, which moves half as many bytes, and trees make fewer steps."},
	{Path: "nccl.algo", Derived: "all", Text: "Algorithms that may be taken (NCCL_ALGO), as in [\"Ring\", \"Tree\"]."},
	{Path: "nccl.proto", Derived: "NCCL's default",
		Text: "Protocols that may be taken (NCCL_PROTO), as in [\"Simple\"]."},
	{Path: "nccl.min_nchannels", Unit: "channels", Default: "0", Max: 64,
		Text: "Fewest channels of a communicator (NCCL_MIN_NCHANNELS); 0 leaves it to NCCL."},
	{Path: "nccl.max_nchannels", Unit: "channels", Default: "0", Max: 64,
		Text: "Most channels of a communicator (NCCL_MAX_NCHANNELS); 0 leaves it to NCCL."},
	{Path: "nccl.buffsize", Unit: `a size as in "4MiB"`, Default: `"4MiB"`,
		Text: "Buffer of a connection of the Simple protocol (NCCL_BUFFSIZE)."},
	{Path: "nccl.p2p_level", Derived: "PXB; SYS with at most two GPUs on AMD", Text: "The farthest path of " +
		"peer-to-peer copies (NCCL_P2P_LEVEL): LOC, NVL, PIX, PXB, PHB or SYS, or NCCL's numbers 0 to 5."},
	{Path: "nccl.p2p_disable", Unit: boolean, Default: "false", Text: "No peer-to-peer copies at all " +
		"(NCCL_P2P_DISABLE): GPUs of a node reach each other through host memory."},
}
