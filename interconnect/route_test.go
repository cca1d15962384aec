package interconnect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// path returns the names of the links from a to b, without the node where it
// is node 0.
func path(top *Topology, a, b int) string {
	var names []string
	for _, l := range top.Path(a, b) {
		names = append(names, strings.TrimPrefix(top.Links()[l].Name, "node0/"))
	}
	return strings.Join(names, " ")
}

func build(t testing.TB, c Config) *Topology {
	top, err := Build(c)
	require.NoError(t, err)
	return top
}

func TestPathsInsideANode(t *testing.T) {
	switched := build(t, nvswitch(80, 12, "amd"))
	assert.Equal(t, "gpu2/nvlink/out gpu5/nvlink/in", path(switched, 2, 5))
	assert.Empty(t, path(switched, 3, 3))
	assert.Equal(t, PathNVL, switched.PathType(0, 7))

	cube := build(t, Config{GPUsPerNode: 8, Kind: CubeMesh, NVLinks: 6, NVLinkBandwidth: 25e9, CPU: "intel"})
	assert.Equal(t, "gpu0/nvlink/to-gpu3", path(cube, 0, 3))
	assert.Equal(t, "gpu0/nvlink/to-gpu4 gpu4/nvlink/to-gpu7", path(cube, 0, 7), "through the GPU with the most links to both")
	assert.Equal(t, PathNVB, cube.PathType(0, 7))

	tree := build(t, Config{GPUsPerNode: 8, GPUsPerSwitch: 2, GPUsPerUpperSwitch: 4, CPU: "intel"})
	assert.Equal(t, "gpu0/pcie/up gpu1/pcie/down", path(tree, 0, 1))
	assert.Equal(t, PathPIX, tree.PathType(0, 1))
	assert.Equal(t, "gpu0/pcie/up switch0/pcie/up switch1/pcie/down gpu3/pcie/down", path(tree, 0, 3))
	assert.Equal(t, PathPXB, tree.PathType(0, 3))
	assert.Equal(t, PathSYS, tree.PathType(0, 4))
	assert.Equal(t, "gpu0/pcie/up switch0/pcie/up switch4/pcie/up socket0/to-socket1 socket1/memory switch5/pcie/down switch2/pcie/down gpu4/pcie/down",
		path(tree, 0, 4), "past PXB NCCL copies through host memory")

	roots := build(t, Config{GPUsPerNode: 4, GPUsPerHostBridge: 2, Sockets: 1})
	assert.Equal(t, PathPHB, roots.PathType(0, 1))
	assert.Equal(t, PathNODE, roots.PathType(1, 2))
}

func TestP2PLevels(t *testing.T) {
	top := build(t, Config{GPUsPerNode: 8, GPUsPerSwitch: 2, GPUsPerUpperSwitch: 4, Kind: NVLinkPairs, NVLinks: 4, NVLinkBandwidth: 14e9})
	hosted := func(a, b int, s Settings) bool {
		for _, u := range top.route(a, b, top.p2pLevel(s, 8)).uses {
			if top.links[u.Link].Kind == LinkMemory {
				assert.Equal(t, 2.0, u.Weight, "written and read")
				return true
			}
		}
		return false
	}
	for _, c := range []struct {
		s                  Settings
		bridge, upper, sys bool
	}{
		{Settings{}, false, false, true},
		{Settings{P2PLevel: "NVL"}, false, true, true},
		{Settings{P2PLevel: "sys"}, false, false, false},
		{Settings{P2PLevel: "4"}, false, false, false},
		{Settings{P2PLevel: "LOC"}, true, true, true},
		{Settings{P2PDisable: true}, true, true, true},
	} {
		assert.Equal(t, c.bridge, hosted(0, 1, c.s), "%+v NVLink", c.s)
		assert.Equal(t, c.upper, hosted(0, 2, c.s), "%+v PXB", c.s)
		assert.Equal(t, c.sys, hosted(0, 4, c.s), "%+v SYS", c.s)
	}
	small := build(t, Config{GPUsPerNode: 2, CPU: "amd"})
	assert.Equal(t, PathSYS, small.p2pLevel(Settings{}, 2), "two GPUs on AMD copy over the sockets")
	consumer := build(t, Config{GPUsPerNode: 2, CPU: "amd", NoP2P: true})
	assert.Equal(t, PathNVB, consumer.p2pLevel(Settings{P2PLevel: "SYS"}, 2), "what the driver lacks no setting brings")
}

func TestPathsBetweenNodes(t *testing.T) {
	c := nvswitch(90, 18, "intel")
	c.Nodes, c.NICs, c.NICBandwidth = 4, 8, 50e9
	top := build(t, c)
	assert.Equal(t, "gpu1/pcie/up nic1/tx node1/nic2/rx node1/gpu2/pcie/down", path(top, 1, 10))
	assert.Equal(t, PathNET, top.PathType(1, 10))

	c.Fabric, c.NodesPerLeaf, c.Oversubscription = FatTree, 2, 4
	tree := build(t, c)
	assert.Equal(t, "gpu1/pcie/up nic1/tx node1/nic1/rx node1/gpu1/pcie/down", path(tree, 1, 9), "below one leaf")
	assert.Equal(t, "gpu1/pcie/up nic1/tx leaf0/up leaf1/down node2/nic1/rx node2/gpu1/pcie/down", path(tree, 1, 17))
	for _, l := range tree.Links() {
		if l.Name == "leaf0/up" {
			assert.Equal(t, 2*8*50e9/4, l.Capacity)
		}
	}

	c.Fabric = Rails
	rails := build(t, c)
	assert.Equal(t, "gpu1/nvlink/out gpu2/nvlink/in gpu2/pcie/up nic2/tx node1/nic2/rx node1/gpu2/pcie/down", path(rails, 1, 10), "handed to the receiver's rail")
	assert.Equal(t, "gpu1/pcie/up nic1/tx leaf1/up leaf9/down node2/nic1/rx node2/gpu1/pcie/down", path(rails, 1, 17), "another group of nodes")

	c.NoGPUDirect = true
	host := build(t, c)
	assert.Contains(t, path(host, 1, 9), "gpu1/pcie/up switch1/pcie/up socket0/memory", "the card reads host memory")
}

func TestCardsNearGPUs(t *testing.T) {
	cards := func(c Config) (near []int) {
		top := build(t, c)
		for _, g := range top.node.gpus {
			near = append(near, g.nic)
		}
		return near
	}
	base := Config{Nodes: 2, GPUsPerNode: 8, GPUsPerSwitch: 2, NICBandwidth: 25e9}
	rail := base
	rail.NICs = 8
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, cards(rail))
	rail.NICs = 4
	assert.Equal(t, []int{0, 0, 1, 1, 2, 2, 3, 3}, cards(rail))
	shared := base
	shared.NICs, shared.NICAffinity = 2, Shared
	assert.Equal(t, []int{0, 0, 0, 0, 1, 1, 1, 1}, cards(shared))
	off := base
	off.NICs, off.NICAffinity = 1, OffSocket
	top := build(t, off)
	assert.Equal(t, "gpu0/pcie/up switch0/pcie/up socket0/to-socket1 nic0/tx node1/nic0/rx node1/switch2/pcie/down node1/gpu4/pcie/down", path(top, 0, 12))
}

func TestVisibleDevices(t *testing.T) {
	c := nvswitch(80, 12, "amd")
	c.Nodes, c.NICs, c.NICBandwidth = 2, 8, 25e9
	c.VisibleDevices = []int{2, 3, 7}
	top := build(t, c)
	assert.Equal(t, 6, top.Devices())
	assert.Equal(t, 1, top.NodeOf(3))
	assert.Equal(t, "gpu2/nvlink/out gpu7/nvlink/in", path(top, 0, 2))
	assert.Equal(t, "gpu3/pcie/up nic3/tx node1/nic2/rx node1/gpu2/pcie/down", path(top, 1, 3))
}

// TestDGXFromTable compares the node that a DGX H100's table gives with the
// one that its configuration gives.
func TestDGXFromTable(t *testing.T) {
	c := nvswitch(90, 18, "intel-sapphire-rapids")
	c.PCIeGen = 5
	plain := build(t, c)
	c.Topology = parseTopo(t, "dgx-h100-8gpu-12nic-tabs")
	table := build(t, c)
	assert.Equal(t, 18, table.node.nvlinks)
	for _, n := range []int{2, 4, 8} {
		a, err := plain.Communicator(devices(n), Settings{})
		require.NoError(t, err)
		b, err := table.Communicator(devices(n), Settings{})
		require.NoError(t, err)
		p, q := a.Plan(AllReduce, 1<<26), b.Plan(AllReduce, 1<<26)
		assert.Equal(t, p.Uncontended(plain), q.Uncontended(table))
	}
	for g, want := range []int{0, 3, 4, 5, 6, 9, 10, 11} {
		assert.Equal(t, want, table.node.gpus[g].nic, "GPU%d's card", g)
	}
}
