package nccl

import (
	"testing"

	"trainsim/interconnect"
	"trainsim/sim/gpu/generation"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func communicator(t testing.TB, c interconnect.Config, n int, s Settings) *Communicator {
	top, err := interconnect.Build(c)
	require.NoError(t, err)
	return first(t, top, n, s)
}

func nvswitch(cc, links int, cpu string) interconnect.Config {
	return interconnect.Config{GPUsPerNode: 8, Kind: interconnect.NVSwitch, ComputeCapability: cc, CPU: cpu, NVLinks: links, NVLinkBandwidth: 25e9, GPUsPerSwitch: 1}
}

// TestGraphs compares channels with what NCCL's search finds on known machines
// (public logs, NVIDIA/nccl#892 and #964, NVIDIA/nccl-tests#100; the
// others follow from the rules of graph/search.cc).
func TestGraphs(t *testing.T) {
	h100x2 := nvswitch(90, 18, "intel")
	h100x2.Nodes, h100x2.NICs, h100x2.NICBandwidth, h100x2.PCIeGen = 2, 8, 50e9, 5
	a100x4 := nvswitch(80, 12, "amd")
	a100x4.Nodes, a100x4.NICs, a100x4.NICBandwidth = 4, 8, 25e9
	mesh := interconnect.Config{GPUsPerNode: 4, Kind: interconnect.NVLinkMesh, ComputeCapability: 80, NVLinks: 12, NVLinkBandwidth: 25e9}
	pair := func(cc, links int) interconnect.Config {
		return interconnect.Config{GPUsPerNode: 2, Kind: interconnect.NVLinkPairs, ComputeCapability: cc, NVLinks: links, NVLinkBandwidth: 25e9}
	}
	pcie := func(gen int, cpu string) interconnect.Config {
		return interconnect.Config{GPUsPerNode: 4, PCIeGen: gen, CPU: cpu, ComputeCapability: 80, GPUsPerSwitch: 4, Sockets: 1}
	}
	for _, c := range []struct {
		name            string
		cfg             interconnect.Config
		n               int
		channels        int
		speed           float64
		coll, nvls, p2p int
	}{
		{"8xA100", nvswitch(80, 12, "amd"), 8, 12, 20, 24, 0, 32},
		{"8xH100", nvswitch(90, 18, "intel"), 8, 12, 30, 24, 16, 32},
		{"8xH800", nvswitch(90, 8, "intel"), 8, 8, 20, 16, 16, 16},
		{"2x8 H100, 8 NICs of 400G", h100x2, 16, 8, 45, 16, 16, 16},
		{"4x8 A100, 8 NICs of 200G", a100x4, 32, 8, 24, 16, 0, 16},
		{"4xA100, NV4", mesh, 4, 12, 20, 24, 0, 32},
		{"2xH100 PCIe, bridge", pair(90, 12), 2, 8, 30, 16, 0, 16},
		{"2xRTX 3090, bridge", pair(86, 4), 2, 2, 20, 4, 0, 4},
		{"DGX-1", interconnect.Config{GPUsPerNode: 8, Kind: interconnect.CubeMesh, ComputeCapability: 70, NVLinks: 6, NVLinkBandwidth: 25e9}, 8, 6, 20, 12, 0, 16},
		{"PCIe gen 4 switch", pcie(4, "amd"), 4, 2, 12, 4, 0, 4},
		{"PCIe gen 3 switch", pcie(3, "amd"), 4, 1, 12, 2, 0, 2},
	} {
		cm := communicator(t, c.cfg, c.n, Settings{})
		g := cm.tuner.graphs[Ring]
		assert.Equal(t, c.channels, g.channels, c.name)
		assert.Equal(t, c.speed, g.intra, c.name)
		assert.Equal(t, c.coll, cm.tuner.channels, c.name)
		assert.Equal(t, c.p2p, cm.p2pChannels(), c.name)
		if c.nvls > 0 {
			assert.Equal(t, c.nvls, cm.nvlsChannels(), c.name)
			assert.NotZero(t, cm.tuner.graphs[NVLS].channels+cm.tuner.graphs[NVLSTree].channels, c.name)
		}
	}
}

// TestVectorsFromTopology derives the vectors' inputs from machines instead of
// taking them from the file.
func TestVectorsFromTopology(t *testing.T) {
	h100x2 := nvswitch(90, 18, "intel")
	h100x2.Nodes, h100x2.NICs, h100x2.NICBandwidth, h100x2.PCIeGen = 2, 8, 50e9, 5
	a100x4 := nvswitch(80, 12, "amd")
	a100x4.Nodes, a100x4.NICs, a100x4.NICBandwidth = 4, 8, 25e9
	configs := []interconnect.Config{nvswitch(80, 12, "amd"), nvswitch(90, 18, "intel"), h100x2, a100x4}
	for i, v := range loadVectors(t) {
		cm := communicator(t, configs[i], v.Inputs.Ranks, Settings{})
		for name, c := range v.Colls {
			for _, row := range c.Choice {
				p := cm.Plan(vectorOps[name], int64(row[0].(float64)))
				assert.Equal(t, row[1], p.Algorithm.String(), "%s %s %v", v.Name, name, row[0])
				assert.Equal(t, row[2], p.Protocol.String(), "%s %s %v", v.Name, name, row[0])
				assert.Positive(t, p.Uncontended())
			}
		}
	}
}

// TestPCIeTables checks NCCL's estimates for four GPUs over host memory (two
// channels of 9 GB/s) and two behind one gen 3 switch, worked by hand from the
// rules of graph/tuning.cc.
func TestPCIeTables(t *testing.T) {
	four := &tuner{ranks: 4, nodes: 1, gen: generation.Of(86), channels: 4}
	four.graphs[Ring] = graph{channels: 2, intra: 9, inter: 9}
	four.graphs[Tree] = four.graphs[Ring]
	two := &tuner{ranks: 2, nodes: 1, gen: generation.Of(86), channels: 2}
	two.graphs[Ring] = graph{channels: 1, intra: 12, inter: 12}
	two.graphs[Tree] = two.graphs[Ring]
	for _, c := range []struct {
		t       *tuner
		a       Algorithm
		p       Protocol
		lat, bw float64
	}{
		{four, Ring, LL, 12.6, 6.0}, {four, Ring, Simple, 42.6, 12.0}, {four, Tree, LL, 12.8, 2.18}, {four, Tree, Simple, 32.4, 8.28},
		{two, Ring, LL, 8.6, 6.0}, {two, Ring, Simple, 19.8, 12.0}, {two, Tree, LL, 8.8, 1.45}, {two, Tree, Simple, 16.4, 5.52},
	} {
		e := c.t.cell(AllReduce, c.a, c.p)
		assert.InEpsilon(t, c.lat, e.lat, 1e-3, "%v %v", c.a, c.p)
		assert.InEpsilon(t, c.bw, e.bw, 2e-3, "%v %v", c.a, c.p)
		assert.False(t, c.t.allows(AllReduce, c.a, LL128), "never on PCIe")
	}
	for bytes, want := range map[int64]Protocol{8: LL, 1 << 20: Simple, 1 << 26: Simple} {
		best, ok := four.choose(AllReduce, bytes)
		require.True(t, ok)
		assert.Equal(t, Ring, best.algorithm)
		assert.Equal(t, want, best.protocol, "%d", bytes)
	}
}

// TestMemory compares with what NCCL's users report and the source's buffer
// sizes give (nccl#964 and nccl#1685).
func TestMemory(t *testing.T) {
	h100x2 := nvswitch(90, 18, "intel")
	h100x2.Nodes, h100x2.NICs, h100x2.NICBandwidth, h100x2.PCIeGen = 2, 8, 50e9, 5
	mesh := interconnect.Config{GPUsPerNode: 4, Kind: interconnect.NVLinkMesh, ComputeCapability: 80, NVLinks: 12, NVLinkBandwidth: 25e9}
	pcie := interconnect.Config{GPUsPerNode: 4, NoP2P: true}
	for _, c := range []struct {
		name string
		cfg  interconnect.Config
		n    int
		s    Settings
		ops  []Op
		mib  int64
	}{
		{"nothing used", nvswitch(90, 18, "intel"), 8, Settings{}, nil, 0},
		{"one rank", nvswitch(90, 18, "intel"), 1, Settings{}, []Op{AllReduce}, 0},
		{"8xH100 ring and NVLS", nvswitch(90, 18, "intel"), 8, Settings{}, []Op{AllReduce}, 544},
		{"8xH100 ring", nvswitch(90, 18, "intel"), 8, Settings{}, []Op{AllGather}, 288},
		{"8xH100 all-to-all", nvswitch(90, 18, "intel"), 8, Settings{}, []Op{AllToAll}, 2688},
		{"4xA100 ring", mesh, 4, Settings{}, []Op{AllReduce}, 288},
		{"2x8 H100 ring", h100x2, 16, Settings{}, []Op{AllGather}, 208},
		{"fewer channels", nvswitch(80, 12, "amd"), 8, Settings{MaxChannels: 4}, []Op{AllReduce}, 48},
		{"smaller buffers", nvswitch(80, 12, "amd"), 8, Settings{BuffSize: 1 << 20}, []Op{AllReduce}, 24 * 10},
		{"host memory", pcie, 4, Settings{}, []Op{AllReduce, AllToAll}, 0},
	} {
		cm := communicator(t, c.cfg, c.n, c.s)
		assert.Equal(t, c.mib<<20, cm.MemoryBytes(c.ops...), c.name)
	}
}

func TestPackedRings(t *testing.T) {
	mesh := func(n, links int) [][]int {
		bonds := make([][]int, n)
		for i := range bonds {
			bonds[i] = make([]int, n)
		}
		for i := range bonds {
			for j := range bonds {
				if i != j {
					bonds[i][j] = links
				}
			}
		}
		return bonds
	}
	cube := mesh(8, 0)
	dgx1 := build(t, interconnect.Config{GPUsPerNode: 8, Kind: interconnect.CubeMesh, NVLinks: 6, NVLinkBandwidth: 25e9})
	for i := range cube {
		for j := range cube {
			cube[i][j] = dgx1.NVLinks(i, j)
		}
	}
	for _, c := range []struct {
		name  string
		bonds [][]int
		want  int
	}{
		{"pair", mesh(2, 4), 4}, {"triangle", mesh(3, 6), 12}, {"square", mesh(4, 4), 12}, {"square of one", mesh(4, 1), 2},
		{"square of six", mesh(4, 6), 18}, {"eight", mesh(8, 2), 14}, {"cube", cube, 6},
	} {
		cycles := packCycles(roomFor(c.bonds, 1))
		assert.Len(t, cycles, c.want, c.name)
		room := roomFor(c.bonds, 1)
		for _, cycle := range cycles {
			require.Len(t, cycle, len(c.bonds), c.name)
			for i, a := range cycle {
				b := cycle[(i+1)%len(cycle)]
				room[a][b]--
				require.GreaterOrEqual(t, room[a][b], 0, c.name)
			}
		}
	}
	broken := mesh(4, 1)
	for i := range broken {
		broken[0][i], broken[i][0] = 0, 0
	}
	assert.Empty(t, packCycles(roomFor(broken, 1)), "a GPU without NVLink")
}
