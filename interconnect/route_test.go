package interconnect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/interconnect/topo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// path returns the names of the links from a to b under NCCL's usual level of
// peer-to-peer copies, without the node where it is node 0.
func path(top *interconnect.Topology, a, b int) string {
	var names []string
	for _, u := range top.Route(a, b, interconnect.PathPXB).Uses {
		names = append(names, strings.TrimPrefix(top.Link(u.Link).Name, "node0/"))
	}
	return strings.Join(names, " ")
}

func TestPathsInsideANode(t *testing.T) {
	switched := build(t, nvswitch(80, 12, "amd"))
	assert.Equal(t, "gpu2/nvlink/out gpu5/nvlink/in", path(switched, 2, 5))
	assert.Empty(t, path(switched, 3, 3))
	assert.Equal(t, interconnect.PathNVL, switched.PathType(0, 7))

	cube := build(t, interconnect.Config{GPUsPerNode: 8, Kind: interconnect.CubeMesh, NVLinks: 6, NVLinkBandwidth: 25e9, CPU: "intel"})
	assert.Equal(t, "gpu0/nvlink/to-gpu3", path(cube, 0, 3))
	assert.Equal(t, "gpu0/nvlink/to-gpu4 gpu4/nvlink/to-gpu7", path(cube, 0, 7), "through the GPU with the most links to both")
	assert.Equal(t, interconnect.PathNVB, cube.PathType(0, 7))

	tree := build(t, interconnect.Config{GPUsPerNode: 8, GPUsPerSwitch: 2, GPUsPerUpperSwitch: 4, CPU: "intel"})
	assert.Equal(t, "gpu0/pcie/up gpu1/pcie/down", path(tree, 0, 1))
	assert.Equal(t, interconnect.PathPIX, tree.PathType(0, 1))
	assert.Equal(t, "gpu0/pcie/up switch0/pcie/up switch1/pcie/down gpu3/pcie/down", path(tree, 0, 3))
	assert.Equal(t, interconnect.PathPXB, tree.PathType(0, 3))
	assert.Equal(t, interconnect.PathSYS, tree.PathType(0, 4))
	assert.Equal(t, "gpu0/pcie/up switch0/pcie/up switch4/pcie/up socket0/to-socket1 socket1/memory switch5/pcie/down switch2/pcie/down gpu4/pcie/down",
		path(tree, 0, 4), "past PXB NCCL copies through host memory")

	roots := build(t, interconnect.Config{GPUsPerNode: 4, GPUsPerHostBridge: 2, Sockets: 1})
	assert.Equal(t, interconnect.PathPHB, roots.PathType(0, 1))
	assert.Equal(t, interconnect.PathNODE, roots.PathType(1, 2))
}

func TestPathsBetweenNodes(t *testing.T) {
	c := nvswitch(90, 18, "intel")
	c.Nodes, c.NICs, c.NICBandwidth = 4, 8, 50e9
	top := build(t, c)
	assert.Equal(t, "gpu1/pcie/up nic1/tx node1/nic2/rx node1/gpu2/pcie/down", path(top, 1, 10))
	assert.Equal(t, interconnect.PathNET, top.PathType(1, 10))

	c.Fabric, c.NodesPerLeaf, c.Oversubscription = interconnect.FatTree, 2, 4
	tree := build(t, c)
	assert.Equal(t, "gpu1/pcie/up nic1/tx node1/nic1/rx node1/gpu1/pcie/down", path(tree, 1, 9), "below one leaf")
	assert.Equal(t, "gpu1/pcie/up nic1/tx leaf0/up leaf1/down node2/nic1/rx node2/gpu1/pcie/down", path(tree, 1, 17))
	for _, l := range tree.All() {
		if l.Name == "leaf0/up" {
			assert.Equal(t, 2*8*50e9/4, l.Capacity)
		}
	}

	c.Fabric = interconnect.Rails
	rails := build(t, c)
	assert.Equal(t, "gpu1/nvlink/out gpu2/nvlink/in gpu2/pcie/up nic2/tx node1/nic2/rx node1/gpu2/pcie/down", path(rails, 1, 10), "handed to the receiver's rail")
	assert.Equal(t, "gpu1/pcie/up nic1/tx leaf1/up leaf9/down node2/nic1/rx node2/gpu1/pcie/down", path(rails, 1, 17), "another group of nodes")

	c.NoGPUDirect = true
	host := build(t, c)
	assert.Contains(t, path(host, 1, 9), "gpu1/pcie/up switch1/pcie/up socket0/memory", "the card reads host memory")
}

func TestCardsNearGPUs(t *testing.T) {
	cards := func(c interconnect.Config) (near []int) {
		top := build(t, c)
		for d := range top.PerDomain() {
			near = append(near, top.Card(d))
		}
		return near
	}
	base := interconnect.Config{Nodes: 2, GPUsPerNode: 8, GPUsPerSwitch: 2, NICBandwidth: 25e9}
	rail := base
	rail.NICs = 8
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, cards(rail))
	rail.NICs = 4
	assert.Equal(t, []int{0, 0, 1, 1, 2, 2, 3, 3}, cards(rail))
	shared := base
	shared.NICs, shared.NICAffinity = 2, interconnect.Shared
	assert.Equal(t, []int{0, 0, 0, 0, 1, 1, 1, 1}, cards(shared))
	off := base
	off.NICs, off.NICAffinity = 1, interconnect.OffSocket
	top := build(t, off)
	assert.Equal(t, "gpu0/pcie/up switch0/pcie/up socket0/to-socket1 nic0/tx node1/nic0/rx node1/switch2/pcie/down node1/gpu4/pcie/down", path(top, 0, 12))
}

func TestVisibleDevices(t *testing.T) {
	c := nvswitch(80, 12, "amd")
	c.Nodes, c.NICs, c.NICBandwidth = 2, 8, 25e9
	c.VisibleDevices = []int{2, 3, 7}
	top := build(t, c)
	assert.Equal(t, 6, top.Devices())
	assert.Equal(t, 1, top.DomainOf(3))
	assert.Equal(t, "gpu2/nvlink/out gpu7/nvlink/in", path(top, 0, 2))
	assert.Equal(t, "gpu3/pcie/up nic3/tx node1/nic2/rx node1/gpu2/pcie/down", path(top, 1, 3))
}

// TestDGXFromTable compares the node that a DGX H100's table gives with the
// one that its configuration gives.
func TestDGXFromTable(t *testing.T) {
	c := nvswitch(90, 18, "intel-sapphire-rapids")
	c.PCIeGen = 5
	plain := build(t, c)
	c.Topology = table(t, "dgx-h100-8gpu-12nic-tabs")
	read := build(t, c)
	assert.Equal(t, 18, read.NVLinksOf())
	for _, n := range []int{2, 4, 8} {
		_, a := group(t, plain, n, nccl.Settings{})
		_, b := group(t, read, n, nccl.Settings{})
		p, q := a.Plan(nccl.AllReduce, 1<<26), b.Plan(nccl.AllReduce, 1<<26)
		assert.Equal(t, p.Uncontended(), q.Uncontended())
	}
	for g, want := range []int{0, 3, 4, 5, 6, 9, 10, 11} {
		assert.Equal(t, want, read.Card(g), "GPU%d's card", g)
	}
}

// table reads the topology of a machine that package topo is tested with.
func table(t testing.TB, name string) *interconnect.Matrix {
	f, err := os.Open(filepath.Join("topo", "testdata", name+".txt"))
	require.NoError(t, err)
	defer f.Close()
	m, err := topo.Parse(f)
	require.NoError(t, err, name)
	return m
}

func nvswitch(cc, links int, cpu string) interconnect.Config {
	return interconnect.Config{GPUsPerNode: 8, Kind: interconnect.NVSwitch, ComputeCapability: cc, CPU: cpu, NVLinks: links, NVLinkBandwidth: 25e9, GPUsPerSwitch: 1}
}
