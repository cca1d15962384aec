package interconnect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// rack is racks of 72 GPUs in trays of four, as GB200 NVL72 is.
func rack(trays int) Config {
	return Config{
		Nodes: trays, GPUsPerNode: 4, NVLinkDomain: 72, Kind: NVSwitch, ComputeCapability: 100, CPU: "arm",
		NVLinks: 18, NVLinkBandwidth: 50e9, NVLinkLatency: 600 * sim.Nanosecond,
		PCIeGen: 5, GPUsPerSwitch: 1, NICs: 4, NICBandwidth: 50e9, NICEfficiency: 0.95, NICLatency: 2 * sim.Microsecond,
	}
}

func TestDomains(t *testing.T) {
	for _, c := range []struct {
		trays, domains, devices int
		second                  int // first device of the second domain, 0 without
	}{
		{1, 1, 4, 0}, {2, 1, 8, 0}, {18, 1, 72, 0},
		{36, 2, 144, 72}, {32, 2, 128, 64}, // evenly
		{19, 2, 76, 72}, {360, 20, 1440, 72},
	} {
		top := build(t, rack(c.trays))
		assert.Equal(t, c.devices, top.Devices(), "%d trays", c.trays)
		assert.Equal(t, c.domains, top.Domains(), "%d trays", c.trays)
		assert.Equal(t, c.trays, top.Nodes())
		if c.second > 0 {
			assert.Equal(t, 0, top.NodeOf(c.second-1))
			assert.Equal(t, 1, top.NodeOf(c.second))
			assert.Equal(t, PathNET, top.PathType(0, c.second))
		}
		if c.devices > 4 {
			assert.Equal(t, PathNVL, top.PathType(0, 4), "NVSwitches join trays")
		}
	}
	config := rack(32)
	assert.Equal(t, 64, config.DomainSize())
}

// Links are named by the tray that they are in.
func TestDomainLinkNames(t *testing.T) {
	top := build(t, rack(36))
	names := make(map[string]bool)
	for _, l := range top.Links() {
		assert.False(t, names[l.Name], l.Name)
		names[l.Name] = true
	}
	for _, name := range []string{"node0/gpu0/nvlink/out", "node17/gpu3/nvlink/in", "node18/gpu0/pcie/up", "node35/nic3/rx", "node20/socket1/memory", "node20/socket0/to-socket1"} {
		assert.True(t, names[name], name)
	}
	path := top.Path(3, 4)
	require.Len(t, path, 2)
	assert.Equal(t, "node0/gpu3/nvlink/out", top.Links()[path[0]].Name)
	assert.Equal(t, "node1/gpu0/nvlink/in", top.Links()[path[1]].Name)
}

// A ring over trays of one domain is the closed form of a ring on NVLink, and
// one over two domains that of the cards, all of which it uses.
func TestDomainClosedForms(t *testing.T) {
	const bytes = int64(1) << 30
	top := build(t, rack(36))
	for _, n := range []int{8, 72, 144} {
		cm, err := top.Communicator(devices(n), Settings{Model: "ideal"})
		require.NoError(t, err)
		p := cm.Plan(AllReduce, bytes)
		rate := 18 * 50e9 // NVLinks bound every ring here: 72 cards carry more
		want := 2 * float64(n-1) / float64(n) * float64(bytes) / rate
		assert.InEpsilon(t, want, (p.Uncontended(top) - p.Latency).Seconds(), 1e-6, "%d ranks", n)
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
		cm, err := top.Communicator(devices(top.Devices()), Settings{})
		require.NoError(t, err)
		p := cm.Plan(AllReduce, 8<<30)
		assert.Equal(t, c.algorithm, p.Algorithm)
		assert.InEpsilon(t, c.us, p.Uncontended(top).Microseconds(), 0.06)
		assert.Equal(t, maxHeads, cm.tuner.graphs[c.algorithm].channels)
	}
}

func TestDomainRefuses(t *testing.T) {
	for key, c := range map[string]Config{
		"nvlink_domain": {GPUsPerNode: 4, NVLinkDomain: 70, Kind: NVSwitch, NVLinks: 18, NVLinkBandwidth: 50e9},
		"only NVSwitch": {GPUsPerNode: 4, NVLinkDomain: 8, Kind: NVLinkMesh, NVLinks: 18, NVLinkBandwidth: 50e9},
		"off-socket":    {GPUsPerNode: 4, NVLinkDomain: 8, Kind: NVSwitch, NVLinks: 18, NVLinkBandwidth: 50e9, NICAffinity: OffSocket},
	} {
		_, err := Build(c)
		assert.ErrorContains(t, err, key)
	}
	top := build(t, rack(2))
	_, err := top.Communicator(devices(8), Settings{P2PDisable: true})
	assert.ErrorContains(t, err, "falls apart")
	_, err = top.Communicator(devices(4), Settings{P2PDisable: true})
	assert.NoError(t, err, "one tray has host memory between its GPUs")
	p := top.SendPlan(0, 4, 1<<20, Settings{P2PDisable: true})
	assert.Equal(t, LinkNIC, top.Links()[p.Bottleneck].Kind, "trays without NVLink reach each other over their cards")
}

// What the network's plugin reports is added to every step between nodes, and
// unordered cards leave nothing but the Simple protocol there.
func TestNetworkPlugin(t *testing.T) {
	c := Config{Nodes: 2, GPUsPerNode: 8, Kind: NVSwitch, ComputeCapability: 90, NVLinks: 18, NVLinkBandwidth: 25e9, PCIeGen: 5,
		GPUsPerSwitch: 1, NICs: 8, NICBandwidth: 50e9, CPU: "intel"}
	plan := func(c Config, op Op, algo string) Plan {
		top := build(t, c)
		cm, err := top.Communicator(devices(16), Settings{Algo: []string{algo}, Proto: []string{"Simple"}})
		require.NoError(t, err)
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
	cm, err := top.Communicator(devices(16), Settings{})
	require.NoError(t, err)
	for _, bytes := range []int64{1 << 10, 1 << 20, 1 << 30} {
		p := cm.Plan(AllReduce, bytes)
		assert.Equal(t, Simple, p.Protocol)
	}
	cm, err = top.Communicator(devices(8), Settings{})
	require.NoError(t, err)
	p := cm.Plan(AllReduce, 1<<10)
	assert.Equal(t, LL, p.Protocol, "inside a node nothing changes")
}
