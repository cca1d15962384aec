package interconnect

import (
	"cmp"
	"errors"
	"math"

	"trainsim/sim/gpu/generation"
	"trainsim/sim/input"
)

// Validate returns every problem of the configuration, joined, in the order of
// its keys, or nil. Each is an [*input.Problem] with a key of the configuration.
func (c *Config) Validate() error {
	var found []error
	bad := func(key, format string, args ...any) *input.Problem {
		p := input.Bad(key, format, args...)
		found = append(found, p)
		return p
	}
	c.checkCounts(bad)
	c.checkRates(bad)
	c.checkKind(bad)
	c.checkNetwork(bad)
	c.checkVisible(bad)
	return errors.Join(found...)
}

// report takes in a problem with a key.
type report func(key, format string, args ...any) *input.Problem

const maxDevices = 1 << 20

func (c *Config) checkCounts(bad report) {
	if c.Nodes < 0 {
		bad("nodes", "%d is negative; write the number of machines", c.Nodes)
	}
	if c.Topology == nil && c.GPUsPerNode < 1 {
		bad("gpus_per_node", "%d is not a number of GPUs; write 1 or more", c.GPUsPerNode)
	}
	if c.GPUsPerNode > 1024 {
		bad("gpus_per_node", "%d is more than 1024", c.GPUsPerNode)
	}
	per := c.GPUsPerNode
	if c.Topology != nil {
		per = c.Topology.GPUs()
	}
	if per > 0 && c.Nodes > maxDevices/per {
		bad("nodes",
			"%d nodes of %d GPUs are more than %d GPUs", c.Nodes, per, maxDevices).With("gpus_per_node", "topology")
	}
	for _, f := range []struct {
		key string
		n   int
	}{
		{"nvlinks", c.NVLinks}, {"nvlink_domain", c.NVLinkDomain}, {"island_size", c.IslandSize},
		{"pcie_width", c.PCIeWidth},
		{"gpus_per_switch", c.GPUsPerSwitch}, {"gpus_per_upper_switch", c.GPUsPerUpperSwitch},
		{"gpus_per_host_bridge", c.GPUsPerHostBridge}, {"sockets", c.Sockets}, {"nics", c.NICs},
		{"nodes_per_leaf", c.NodesPerLeaf}, {"compute_capability", c.ComputeCapability},
	} {
		if f.n < 0 || f.n > 4096 {
			bad(f.key, "%d is out of range; write 0 to 4096", f.n)
		}
	}
	if c.PCIeGen != 0 && (c.PCIeGen < 1 || c.PCIeGen > 6) {
		bad("pcie_gen", "%d is no PCIe generation; write 1 to 6", c.PCIeGen)
	}
	if _, ok := socketRates[cmp.Or(c.CPU, defaultCPU)]; !ok {
		bad("cpu",
			"unknown processor %q; write intel, intel-skylake, intel-sapphire-rapids, intel-emerald-rapids, amd or "+
				"arm", c.CPU)
	}
}

func (c *Config) checkRates(bad report) {
	for _, f := range []struct {
		key string
		x   float64
	}{
		{"nvlink_bandwidth", float64(c.NVLinkBandwidth)}, {"pcie_bandwidth", float64(c.PCIeBandwidth)},
		{"socket_bandwidth", float64(c.SocketBandwidth)}, {"host_memory_bandwidth", float64(c.HostMemoryBandwidth)},
		{"nic_bandwidth", float64(c.NICBandwidth)},
	} {
		if f.x != 0 && !(f.x >= 1e3 && f.x <= 1e15) {
			bad(f.key, "%g bytes/s is out of range; write a rate such as \"25GB/s\"", f.x)
		}
	}
	for _, f := range []struct {
		key string
		x   float64
	}{
		{"nvlink_efficiency", c.NVLinkEfficiency}, {"host_copy_efficiency", c.HostCopyEfficiency},
		{"nic_efficiency", c.NICEfficiency},
	} {
		if math.IsNaN(f.x) || f.x < 0 || f.x > 1 {
			bad(f.key, "%g is no part of the line rate; write a number above 0 and up to 1", f.x)
		}
	}
	if x := c.Oversubscription; x != 0 && !(x >= 1 && x <= 1e4) {
		bad("oversubscription", "%g is not a ratio; write 1 or more", x)
	}
	for _, f := range []struct {
		key string
		ps  int64
	}{
		{"nvlink_latency", int64(c.NVLinkLatency)}, {"pcie_latency", int64(c.PCIeLatency)},
		{"nic_latency", int64(c.NICLatency)}, {"plugin_latency", int64(c.PluginLatency)},
	} {
		if f.ps < 0 || f.ps > 1e12 {
			bad(f.key, "is out of range; write 0s to 1s")
		}
	}
}

func (c *Config) checkKind(bad report) {
	if int(c.Kind) >= len(kindNames) {
		bad("kind", "unknown; write one of %v", kindNames)
		return
	}
	if c.Topology != nil {
		if c.NVLinkDomain > 0 {
			bad("nvlink_domain",
				"cannot stand beside a topology, which is one machine's; leave one of them out").With("topology")
		}
		c.checkNVLinks(bad)
		return
	}
	if c.Kind != PCIe && (c.NVLinks < 1 || c.NVLinkBandwidth <= 0) {
		bad("nvlinks", "a node of kind %q needs nvlinks and nvlink_bandwidth", c.Kind).With("kind", "nvlink_bandwidth")
	}
	c.checkDomain(bad)
	switch c.Kind {
	case Islands:
		if c.IslandSize < 2 || (c.GPUsPerNode > 0 && c.GPUsPerNode%c.IslandSize != 0) {
			bad("island_size",
				"%d GPUs do not make whole islands of %d; write a divisor of gpus_per_node above 1",
				c.GPUsPerNode, c.IslandSize).With("gpus_per_node")
		}
	case NVLinkPairs:
		if c.GPUsPerNode%2 != 0 {
			bad("gpus_per_node", "%d GPUs do not make pairs; write an even number", c.GPUsPerNode).With("kind")
		}
	case CubeMesh:
		if c.GPUsPerNode != 8 {
			bad("gpus_per_node", "a cube mesh has 8 GPUs, not %d", c.GPUsPerNode).With("kind")
		}
	}
}

// checkNVLinks refuses a topology with NVLinks for a GPU that has none.
func (c *Config) checkNVLinks(bad report) {
	if !generation.Of(c.ComputeCapability).NVLink.Absent {
		return
	}
	for a := range c.Topology.GPUs() {
		for b, cell := range c.Topology.Cells[a] {
			if cell.Type == PathNVL {
				bad("topology",
					"shows %v between %s and %s, but GPUs of compute capability %.1f have no NVLink; name the GPU "+
						"of that machine (trainsim list gpus), or take the topology of a machine with this one",
					cell, c.Topology.GPUNames[a], c.Topology.GPUNames[b],
					float64(c.ComputeCapability)/10).With("compute_capability")
				return
			}
		}
	}
}

func (c *Config) checkDomain(bad report) {
	if c.NVLinkDomain <= 0 || c.GPUsPerNode <= 0 {
		return
	}
	if c.NVLinkDomain%c.GPUsPerNode != 0 || c.NVLinkDomain > 1024 {
		bad("nvlink_domain",
			"%d GPUs are not whole nodes of %d; write a multiple of gpus_per_node up to 1024",
			c.NVLinkDomain, c.GPUsPerNode).With("gpus_per_node")
	}
	if c.NVLinkDomain > c.GPUsPerNode && c.Kind != NVSwitch {
		bad("nvlink_domain",
			"only NVSwitches join several nodes; write kind = \"nvswitch\"").With("kind", "gpus_per_node")
	}
	if c.NVLinkDomain > c.GPUsPerNode && c.NICAffinity == OffSocket {
		bad("nic_affinity",
			"off-socket cards in an NVLink domain of several nodes are not modelled; write rail or shared").
			With("nvlink_domain", "gpus_per_node")
	}
}

func (c *Config) checkNetwork(bad report) {
	if int(c.NICAffinity) >= len(affinityNames) {
		bad("nic_affinity", "unknown; write one of %v", affinityNames)
	}
	if int(c.Fabric) >= len(fabricNames) {
		bad("fabric", "unknown; write one of %v", fabricNames)
	}
	if c.Nodes < 2 || c.Topology == nil && c.Nodes*c.GPUsPerNode <= c.NVLinkDomain {
		return // one machine, or machines that NVSwitches join
	}
	switch {
	case c.Topology != nil && c.Topology.NICs() < 1:
		bad("nics",
			"%d nodes need network cards, and the topology has none; take a topology that shows them, or write "+
				"nodes = 1", c.Nodes).With("nodes", "topology")
		return
	case c.Topology == nil && c.NICs < 1:
		bad("nics",
			"%d nodes need network cards; write nics and nic_bandwidth, or nodes = 1",
			c.Nodes).With("nodes", "nic_bandwidth")
	}
	if c.NICBandwidth <= 0 {
		bad("nic_bandwidth", "%d nodes need it; write a card's line rate such as \"400Gb/s\"", c.Nodes).With("nodes")
	}
}

func (c *Config) checkVisible(bad report) {
	gpus := c.GPUsPerNode
	if c.Topology != nil {
		gpus = c.Topology.GPUs()
		if c.GPUsPerNode > gpus {
			bad("gpus_per_node",
				"the topology has %d GPUs, not %d; leave gpus_per_node out", gpus, c.GPUsPerNode).With("topology")
		}
	}
	seen := make(map[int]bool)
	for _, d := range c.VisibleDevices {
		if d < 0 || d >= gpus {
			bad("visible_devices",
				"there is no GPU %d; a node has GPUs 0 to %d", d, gpus-1).With("gpus_per_node", "topology")
		} else if seen[d] {
			bad("visible_devices", "GPU %d is listed twice; list each GPU once", d)
		}
		seen[d] = true
	}
}
