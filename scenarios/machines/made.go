package machines

import (
	"strings"

	"trainsim/interconnect"
	"trainsim/scenarios"
	"trainsim/sim"
)

// made builds a node from the words alone, for a GPU that is not stated or not
// known here; nil where they do not say enough.
func (w *Words) made() *interconnect.Config {
	if strings.Contains(strings.ToLower(w.GPU), "mi300x") {
		return w.infinityFabric()
	}
	if _, err := FindGPU(w.GPU); err == nil {
		return nil
	}
	links := statedLinks.FindStringSubmatch(w.Text)
	switch bonds := statedBonds.FindStringSubmatch(w.Text); {
	case w.PerNode > 8:
		return nil
	case w.Nodes > 1:
		return w.madeNodes(links)
	case links != nil || w.Has("nvswitch"):
		return w.reference(referenceOf(links))
	case bonds != nil && w.Has("bridge", "pair"):
		c := w.slots()
		w.bridge(c, bonds[1])
		return c
	case w.Has("pcie", "p2p", "numa", "socket"):
		return w.slots()
	}
	return nil
}

// referenceOf is the maker's reference system with a generation of NVLink, DGX
// H100 where none is stated.
func referenceOf(links []string) string {
	if links == nil {
		return "dgx-h100"
	}
	return map[string]string{"2": "dgx1-v100", "3": "dgx-a100", "4": "dgx-h100", "5": "hgx-b200"}[links[1]]
}

// madeNodes are nodes on a network: the maker's reference system of eight GPUs,
// by the generation of NVLink, or DGX A100 where a node has up to 200 GB/s of
// network, as with eight HDR cards, and DGX H100 otherwise.
func (w *Words) madeNodes(links []string) *interconnect.Config {
	name := referenceOf(links)
	if g := statedRate.FindStringSubmatch(w.Text); links == nil && g != nil && bytesPerSecond(g[1], g[2]) <= 200e9 {
		name = "dgx-a100"
	}
	if links == nil && !w.Has("gb/s", "gbps", "gbe", "infiniband", "roce", "rdma", "hdr", "ndr") {
		return nil
	}
	return w.reference(name)
}

// reference is a built-in cluster with what the words state.
func (w *Words) reference(name string) *interconnect.Config {
	base, _, err := scenarios.LoadCluster(name)
	if err != nil {
		return nil
	}
	c := *base
	w.state(&c)
	return &c
}

// slots is a node of PCIe cards: on root ports of their own, or below one switch
// where the words speak of it; on one socket or, where they speak of several, on
// two. A socket's memory is that of the slots' time: eight channels of DDR4-3200
// or of DDR5-4800, of which three quarters and two thirds are reached.
func (w *Words) slots() *interconnect.Config {
	c := &interconnect.Config{GPUsPerNode: w.PerNode, ComputeCapability: 80, PCIeGen: 4, CPU: "amd", Sockets: 1}
	if w.Has("sockets", "dual") {
		c.Sockets = 2
	}
	if w.Has("one switch", "pcie switch", "pix", "pxb", "plx") {
		c.GPUsPerSwitch = w.PerNode
	}
	w.state(c)
	c.HostMemoryBandwidth = 150e9
	if c.PCIeGen >= 5 {
		c.HostMemoryBandwidth = 200e9
	}
	return c
}

// infinityFabric is a node of MI300X: seven links of 64 GB/s a direction to the
// seven others (AMD CDNA 3 white paper), of which copies reach three quarters.
// What runs on it is not NCCL: such rows are rings at the links' own rate.
func (w *Words) infinityFabric() *interconnect.Config {
	if w.Nodes > 1 || w.PerNode > 8 {
		return nil
	}
	return &interconnect.Config{
		GPUsPerNode: 8, Kind: interconnect.NVLinkMesh, NVLinks: 7, NVLinkBandwidth: 64e9, NVLinkEfficiency: 0.75,
		NVLinkLatency: 2 * sim.Microsecond, PCIeGen: 5, CPU: "amd",
	}
}
