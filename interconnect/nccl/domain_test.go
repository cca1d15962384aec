package nccl

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/interconnect"
	"trainsim/sim"
)

// rack is racks of 72 GPUs in trays of four, as GB200 NVL72 is.
func rack(trays int) interconnect.Config {
	return interconnect.Config{
		Nodes: trays, GPUsPerNode: 4, NVLinkDomain: 72, Kind: interconnect.NVSwitch, ComputeCapability: 100, CPU: "arm",
		NVLinks: 18, NVLinkBandwidth: 50e9, NVLinkLatency: 600 * sim.Nanosecond,
		PCIeGen: 5, GPUsPerSwitch: 1, NICs: 4, NICBandwidth: 50e9, NICEfficiency: 0.95, NICLatency: 2 * sim.Microsecond,
	}
}

// A ring over trays of one domain is the closed form of a ring on NVLink, and
// one over two domains that of the cards, all of which it uses.
func TestDomainClosedForms(t *testing.T) {
	const bytes = int64(1) << 30
	top := build(t, rack(36))
	for _, n := range []int{8, 72, 144} {
		cm := first(t, top, n, Settings{Model: "ideal"})
		p := cm.Plan(AllReduce, bytes)
		rate := 18 * 50e9 // NVLinks bound every ring here: 72 cards carry more
		want := 2 * float64(n-1) / float64(n) * float64(bytes) / rate
		assert.InEpsilon(t, want, (p.Uncontended() - p.Latency).Seconds(), 1e-6, "%d ranks", n)
	}
	one := rack(36)
	one.NICs = 0
	one.Nodes = 18
	alone := build(t, one) // a rack needs no cards
	assert.Equal(t, 72, alone.Devices())
}

// NVLink SHARP works over a rack, with at most 32 heads, and between racks by
// trees; the figures are those of CoreWeave's README and pull request 43 of its
// nccl-tests (GB200, 8 GiB): 20.3 ms on one rack, 21.5 ms on two.
func TestDomainSharp(t *testing.T) {
	for _, c := range []struct {
		trays     int
		algorithm Algorithm
		us        float64
	}{{18, NVLS, 20299}, {36, NVLSTree, 21493}} {
		top := build(t, rack(c.trays))
		cm := first(t, top, top.Devices(), Settings{})
		p := cm.Plan(AllReduce, 8<<30)
		assert.Equal(t, c.algorithm, p.Algorithm)
		assert.InEpsilon(t, c.us, p.Uncontended().Microseconds(), 0.06)
		assert.Equal(t, maxHeads, cm.tuner.graphs[c.algorithm].channels)
	}
}

func TestDomainRefuses(t *testing.T) {
	for key, c := range map[string]interconnect.Config{
		"nvlink_domain": {GPUsPerNode: 4, NVLinkDomain: 70, Kind: interconnect.NVSwitch, NVLinks: 18, NVLinkBandwidth: 50e9},
		"only NVSwitch": {GPUsPerNode: 4, NVLinkDomain: 8, Kind: interconnect.NVLinkMesh, NVLinks: 18, NVLinkBandwidth: 50e9},
		"off-socket":    {GPUsPerNode: 4, NVLinkDomain: 8, Kind: interconnect.NVSwitch, NVLinks: 18, NVLinkBandwidth: 50e9, NICAffinity: interconnect.OffSocket},
	} {
		_, err := interconnect.Build(c)
		assert.ErrorContains(t, err, key)
	}
	top := build(t, rack(2))
	apart := library(t, top, Settings{P2PDisable: true})
	_, err := apart.Communicator(AllReduce, First(8))
	assert.ErrorContains(t, err, "falls apart")
	_, err = apart.Communicator(AllReduce, First(4))
	assert.NoError(t, err, "one tray has host memory between its GPUs")
	p := apart.Send(0, 4, 1<<20)
	assert.Equal(t, interconnect.LinkNIC, top.Link(p.Bottleneck).Kind, "trays without NVLink reach each other over their cards")
}

// What the network's plugin reports is added to every step between nodes, and
// unordered cards leave nothing but the Simple protocol there.
func TestNetworkPlugin(t *testing.T) {
	c := interconnect.Config{Nodes: 2, GPUsPerNode: 8, Kind: interconnect.NVSwitch, ComputeCapability: 90, NVLinks: 18, NVLinkBandwidth: 25e9, PCIeGen: 5,
		GPUsPerSwitch: 1, NICs: 8, NICBandwidth: 50e9, CPU: "intel"}
	plan := func(c interconnect.Config, op Op, algo string) *Plan {
		top := build(t, c)
		cm := first(t, top, 16, Settings{Algo: []string{algo}, Proto: []string{"Simple"}})
		return cm.Plan(op, 1<<30)
	}
	slow := c
	slow.PluginLatency = 35 * sim.Microsecond
	added := func(op Op, algo string) float64 {
		a, b := plan(c, op, algo), plan(slow, op, algo)
		return (b.Latency - a.Latency).Microseconds()
	}
	assert.InDelta(t, 2*35, added(AllGather, "Ring"), 1e-6, "one step between nodes, counted twice under Simple")
	assert.InDelta(t, 4*35, added(AllReduce, "NVLSTree"), 1e-6, "up and down the tree")
	c.UnorderedNIC = true
	top := build(t, c)
	cm := first(t, top, 16, Settings{})
	for _, bytes := range []int64{1 << 10, 1 << 20, 1 << 30} {
		p := cm.Plan(AllReduce, bytes)
		assert.Equal(t, Simple, p.Protocol)
	}
	cm = first(t, top, 8, Settings{})
	p := cm.Plan(AllReduce, 1<<10)
	assert.Equal(t, LL, p.Protocol, "inside a node nothing changes")
}
