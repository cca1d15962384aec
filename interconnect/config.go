package interconnect

import "trainsim/sim"

// Config describes one cluster: its nodes, the links inside them, their
// network cards and the fabric between them. The zero value of a field means
// the default that its comment names. Rates are one direction's.
type Config struct {
	// Nodes is the number of machines; default 1.
	Nodes int `toml:"nodes"`
	// GPUsPerNode is the number of GPUs in a machine.
	GPUsPerNode int `toml:"gpus_per_node"`
	// Kind says how the GPUs of a node are joined; default "pcie".
	Kind Kind `toml:"kind"`
	// ComputeCapability is the GPU's, times ten: 70 V100, 80 A100, 86 A10 and
	// RTX 3090, 89 L40S and RTX 4090, 90 H100, 100 B200. It selects NCCL's
	// constants.
	ComputeCapability int `toml:"compute_capability"`
	// CPU is the processor's family, which NCCL's tuning asks for: "intel",
	// "intel-skylake", "intel-sapphire-rapids", "intel-emerald-rapids", "amd",
	// "arm"; default "amd".
	CPU string `toml:"cpu"`

	// NVLinks is the number of NVLinks of a GPU, 0 without NVLink.
	NVLinks int `toml:"nvlinks"`
	// NVLinkBandwidth is the line rate of one NVLink in one direction; with a
	// Topology its default is that of the compute capability.
	NVLinkBandwidth sim.Bandwidth `toml:"nvlink_bandwidth"`
	// NVLinkEfficiency is the part of the line rate that copies reach;
	// default 1.
	NVLinkEfficiency float64 `toml:"nvlink_efficiency"`
	// NVLinkLatency is the latency of one crossing.
	NVLinkLatency sim.Time `toml:"nvlink_latency"`
	// NVLinkDomain is the number of GPUs that one set of NVSwitches joins across
	// nodes, as in a rack of 72 GPUs in trays of four; a multiple of
	// GPUsPerNode. Default: a node is a domain of its own. Nodes are spread
	// evenly over as few domains as hold them where they divide so, as schedulers
	// place jobs on racks, and fill one after the other elsewhere.
	NVLinkDomain int `toml:"nvlink_domain"`
	// IslandSize is the number of GPUs that NVLink joins when Kind is
	// "islands" (a full mesh inside each island).
	IslandSize int `toml:"island_size"`

	// PCIeGen is the generation of the GPUs' slots, 3 to 6; default 4.
	PCIeGen int `toml:"pcie_gen"`
	// PCIeWidth is the number of lanes of a slot; default 16.
	PCIeWidth int `toml:"pcie_width"`
	// PCIeBandwidth is what DMA reaches through a slot; default by generation
	// and width.
	PCIeBandwidth sim.Bandwidth `toml:"pcie_bandwidth"`
	// PCIeLatency is the latency of one link of the PCIe tree; default 0.3us.
	PCIeLatency sim.Time `toml:"pcie_latency"`
	// GPUsPerSwitch is how many GPUs hang on one PCIe switch, 0 for GPUs on
	// root ports of their own.
	GPUsPerSwitch int `toml:"gpus_per_switch"`
	// GPUsPerUpperSwitch is how many GPUs share a second-level switch above
	// the first, 0 for none.
	GPUsPerUpperSwitch int `toml:"gpus_per_upper_switch"`
	// GPUsPerHostBridge is how many GPUs share a host bridge, 0 for one bridge
	// a switch (or a GPU, where there is no switch).
	GPUsPerHostBridge int `toml:"gpus_per_host_bridge"`
	// Sockets is the number of CPU sockets (NUMA nodes); default 2, or 1 for a
	// single GPU.
	Sockets int `toml:"sockets"`
	// SocketBandwidth is what copies between GPUs of two sockets reach over
	// the link between the sockets; default by CPU.
	SocketBandwidth sim.Bandwidth `toml:"socket_bandwidth"`
	// HostMemoryBandwidth is a socket's memory bandwidth, which copies through
	// host memory use twice; default 100GB/s (six channels of DDR4-2666, of
	// which about three quarters are reached).
	HostMemoryBandwidth sim.Bandwidth `toml:"host_memory_bandwidth"`
	// HostCopyEfficiency is the part of its links' rate that a copy from GPU to
	// GPU through host memory reaches; default 0.47.
	HostCopyEfficiency float64 `toml:"host_copy_efficiency"`
	// NoP2P says that the driver offers no peer-to-peer copies, as on consumer
	// cards: GPUs reach each other through host memory.
	NoP2P bool `toml:"no_p2p"`

	// NICs is the number of network cards of a node that carry training
	// traffic.
	NICs int `toml:"nics"`
	// NICBandwidth is the line rate of one card in one direction.
	NICBandwidth sim.Bandwidth `toml:"nic_bandwidth"`
	// NICEfficiency is the part of the line rate that RDMA reaches; default 1.
	NICEfficiency float64 `toml:"nic_efficiency"`
	// NICAffinity says where the cards are attached; default "rail".
	NICAffinity Affinity `toml:"nic_affinity"`
	// NICLatency is the latency of one crossing from card to card.
	NICLatency sim.Time `toml:"nic_latency"`
	// PluginLatency is the latency that the network's plugin reports to NCCL,
	// which adds it to every step between nodes, twice under the Simple protocol;
	// default 0, as for InfiniBand and RoCE.
	PluginLatency sim.Time `toml:"plugin_latency"`
	// UnorderedNIC says that the cards may deliver bytes out of order, so that
	// the network's plugin leaves nothing but the Simple protocol between nodes.
	UnorderedNIC bool `toml:"nic_unordered"`
	// NoGPUDirect says that cards cannot read GPU memory, so that traffic
	// passes through host memory.
	NoGPUDirect bool `toml:"no_gpudirect"`
	// Fabric is the network between the nodes; default "non-blocking".
	Fabric Fabric `toml:"fabric"`
	// NodesPerLeaf is the number of nodes below one leaf switch of a
	// "fat-tree", or of one set of rail switches of "rails"; default 32.
	NodesPerLeaf int `toml:"nodes_per_leaf"`
	// Oversubscription is how much more traffic enters a leaf switch from
	// below than its uplinks carry; default 1.
	Oversubscription float64 `toml:"oversubscription"`

	// VisibleDevices lists the physical GPUs of a node in the order in which
	// the job sees them, as CUDA_VISIBLE_DEVICES does; default all, in order.
	VisibleDevices []int `toml:"visible_devices"`
	// Topology is a node's matrix as `nvidia-smi topo -m` prints it; it
	// overrides Kind, the PCIe tree and the place of the cards.
	Topology *Matrix `toml:"-"`
}
