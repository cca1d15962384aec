package generation

// NCCL is what NCCL's tuning and graph search know of a generation (NCCL
// 2.30.7; the functions are those of its source). Bandwidths are in GB/s.
type NCCL struct {
	// NVLinkSpeed is what the graph search counts for one NVLink.
	NVLinkSpeed float64 `toml:"nvlink_speed"`
	// SpeedsOneNode and SpeedsNodes are the speeds of a channel that the search
	// tries on one node and on several, the fastest first.
	SpeedsOneNode []float64 `toml:"speeds_one_node"`
	SpeedsNodes   []float64 `toml:"speeds_nodes"`
	// KeepsSlowChannels says that more than four channels below 50 GB/s are not
	// doubled at half the speed.
	KeepsSlowChannels bool `toml:"keeps_slow_channels"`
	// DoublesNodeChannels says that a communicator over several nodes with fewer
	// than 16 channels above 45 GB/s gets twice as many.
	DoublesNodeChannels bool `toml:"doubles_node_channels"`

	// LLOneNode limits the bus bandwidth of LL on one node.
	LLOneNode float64 `toml:"ll_one_node"`
	// RingLL128, TreeLL128 and Tree limit a channel.
	RingLL128 ByNodes `toml:"ring_ll128"`
	TreeLL128 ByNodes `toml:"tree_ll128"`
	Tree      ByNodes `toml:"tree"`
	// LL128 says that LL128 is safe on the GPU and therefore on by default.
	LL128 bool `toml:"ll128"`
	// RingNodesLatency multiplies the latency of a ring over several nodes under
	// the Simple protocol.
	RingNodesLatency float64 `toml:"ring_nodes_latency"`

	NVLS NVLS `toml:"nvls"`
}

// NVLS is NVLink SHARP, the NVSwitches' own reductions and multicasts.
type NVLS struct {
	// Supported says that the GPU can use it.
	Supported bool `toml:"supported"`
	// FP8 says that the switches add FP8.
	FP8 bool `toml:"fp8"`
	// Efficiency is the part of a link's speed that NCCL counts on.
	Efficiency float64 `toml:"efficiency"`
	// Tree limits a channel between nodes.
	Tree ByNodes `toml:"tree"`
	// TreeCorrected says that the estimate for trees between nodes is corrected
	// by size on x86 processors.
	TreeCorrected bool `toml:"tree_corrected"`
	// ChannelsOneNode and ChannelsNodes are the numbers of channels on one node
	// and on several.
	ChannelsOneNode int `toml:"channels_one_node"`
	ChannelsNodes   int `toml:"channels_nodes"`
}

// ByNodes holds one value for one node, for two, and for more.
type ByNodes [3]float64

// At returns the value for a number of nodes.
func (b ByNodes) At(nodes int) float64 { return b[min(nodes, len(b))-1] }
