package nccl

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/sim"
)

// clusters are machines of every kind, for tests that hold for all of them.
func clusters(t testing.TB) map[string]interconnect.Config {
	all := map[string]interconnect.Config{
		"nvswitch": nvswitch(90, 18, "intel"),
		"cube":     {GPUsPerNode: 8, Kind: interconnect.CubeMesh, ComputeCapability: 70, NVLinks: 6, NVLinkBandwidth: 25e9, GPUsPerSwitch: 2},
		"mesh":     {GPUsPerNode: 4, Kind: interconnect.NVLinkMesh, ComputeCapability: 80, NVLinks: 12, NVLinkBandwidth: 25e9},
		"pairs":    {GPUsPerNode: 8, Kind: interconnect.NVLinkPairs, ComputeCapability: 90, NVLinks: 12, NVLinkBandwidth: 25e9, PCIeGen: 5},
		"islands":  {GPUsPerNode: 8, Kind: interconnect.Islands, IslandSize: 4, ComputeCapability: 90, NVLinks: 18, NVLinkBandwidth: 25e9, PCIeGen: 5},
		"pcie":     {GPUsPerNode: 8, ComputeCapability: 89, GPUsPerSwitch: 2, GPUsPerUpperSwitch: 4},
		"consumer": {GPUsPerNode: 8, ComputeCapability: 89, NoP2P: true},
	}
	for name, c := range all {
		c.Nodes, c.NICs, c.NICBandwidth = 2, 2, 25e9
		all[name] = c
		c.Nodes, c.Fabric, c.NodesPerLeaf, c.Oversubscription = 4, interconnect.Rails, 2, 2
		all[name+" on rails"] = c
	}
	return all
}

// TestTrafficIsConserved checks that what an operation takes out of GPUs it
// brings into GPUs, and that it moves the bytes that the operation must.
func TestTrafficIsConserved(t *testing.T) {
	for name, cfg := range clusters(t) {
		top := build(t, cfg)
		for _, n := range []int{2, 4, top.Devices()} {
			cm := first(t, top, n, Settings{})
			for _, op := range Ops() {
				tr := cm.trafficOf(op, patternOf(op), Simple)
				out, in, tx, rx := 0.0, 0.0, 0.0, 0.0
				for _, u := range tr.Uses {
					w := u.Weight * tr.Unit
					switch base := baseName(top, u.Link); {
					case base == "mesh":
						out, in = out+w, in+w
					case base == "nic tx":
						tx += w
					case base == "nic rx":
						rx += w
					case base == "gpu out":
						out += w
					case base == "gpu in":
						in += w
					}
				}
				assert.InDelta(t, out+rx, in+tx, 1e-9*(out+in), "%s %v over %d", name, op, n)
				assert.InDelta(t, tx, rx, 1e-9, "%s %v over %d", name, op, n)
				assert.GreaterOrEqual(t, in+1e-9, op.BusFactor(n)*float64(n-1), "%s %v over %d", name, op, n)
			}
		}
	}
}

// baseName classes a link as a GPU's or a card's way in or out.
func baseName(top *interconnect.Topology, l interconnect.LinkID) string {
	parts := strings.Split(top.Link(l).Name, "/")
	part, last := strings.TrimRight(parts[1], "0123456789"), parts[len(parts)-1]
	switch {
	case part == "gpu" && strings.HasPrefix(last, "to-gpu"):
		return "mesh"
	case part == "gpu" && (last == "up" || last == "out"):
		return "gpu out"
	case part == "gpu":
		return "gpu in"
	case part == "nic":
		return "nic " + last
	}
	return "inside"
}

// TestPairsCountedAsRoutes compares the exchange counted by card and leaf with
// the routes of all pairs one by one.
func TestPairsCountedAsRoutes(t *testing.T) {
	for name, cfg := range clusters(t) {
		top := build(t, cfg)
		group := First(top.Devices())
		group = append(group[1:6], group[7:]...)
		cm, err := library(t, top, Settings{}).Communicator(AllReduce, group)
		require.NoError(t, err, name)
		fast, slow := top.NewLoads(), top.NewLoads()
		cm.addPairs(fast, 1)
		for _, a := range group {
			for _, b := range group {
				if a != b {
					slow.Add(0, top.Route(a, b, cm.level).Uses, 1/float64(len(group)-1))
				}
			}
		}
		want, got := slow.Take(), fast.Take()
		require.Len(t, got, len(want), name)
		for i := range want {
			assert.Equal(t, want[i].Link, got[i].Link, name)
			assert.InEpsilon(t, want[i].Weight, got[i].Weight, 1e-9, "%s %s", name, top.Link(want[i].Link).Name)
		}
	}
}

func TestIdealClosedForms(t *testing.T) {
	c := nvswitch(90, 18, "intel")
	c.NVLinkLatency = 700 * sim.Nanosecond
	top := build(t, c)
	for _, p := range []int{2, 3, 5, 8} {
		cm := first(t, top, p, Settings{Model: "ideal"})
		n, alpha := int64(p), 700*sim.Nanosecond
		for _, size := range []int64{n, 840 << 10, 840 << 20} {
			for op, want := range map[Op]sim.Time{
				AllReduce:     2*sim.Time(p-1)*alpha + sim.TransferTime(2*(n-1)*size/n, 450e9),
				AllGather:     sim.Time(p-1)*alpha + sim.TransferTime((n-1)*size/n, 450e9),
				ReduceScatter: sim.Time(p-1)*alpha + sim.TransferTime((n-1)*size/n, 450e9),
				Broadcast:     sim.Time(p-1)*alpha + sim.TransferTime(size, 450e9),
				Reduce:        sim.Time(p-1)*alpha + sim.TransferTime(size, 450e9),
				AllToAll:      alpha + sim.TransferTime((n-1)*size/n, 450e9),
				SendRecv:      alpha + sim.TransferTime(size, 450e9),
			} {
				if op != Broadcast && op != Reduce && op != SendRecv && size%n != 0 {
					continue
				}
				plan := cm.Plan(op, size)
				assert.Equal(t, want, plan.Uncontended(), "%v of %d over %d", op, size, p)
			}
		}
	}
}

// TestMoreBytesTakeLonger holds for every operation and machine up to the
// points where NCCL changes its protocol.
func TestMoreBytesTakeLonger(t *testing.T) {
	for name, cfg := range clusters(t) {
		top := build(t, cfg)
		cm := first(t, top, top.Devices(), Settings{})
		for _, op := range Ops() {
			last := &Plan{}
			for bytes := int64(1); bytes < 1<<34; bytes *= 2 {
				p := cm.Plan(op, bytes)
				if p.Protocol == last.Protocol && p.Algorithm == last.Algorithm {
					assert.GreaterOrEqual(t, p.Uncontended(), last.Uncontended(), "%s %v %d", name, op, bytes)
				}
				last = p
			}
			busbw := float64(last.Message) / last.Uncontended().Seconds() * last.BusFactor
			assert.Positive(t, busbw)
			assert.False(t, math.IsInf(busbw, 0), "%s %v", name, op)
		}
	}
}

// TestRenamedRanks gives the same devices in another order.
func TestRenamedRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, cfg := range clusters(t) {
		top := build(t, cfg)
		a := first(t, top, top.Devices(), Settings{})
		shuffled := First(top.Devices())
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		b, err := library(t, top, Settings{}).Communicator(AllReduce, shuffled)
		require.NoError(t, err)
		for op := AllReduce; op < SendRecv; op++ { // a shift is one from rank to rank
			p, q := a.Plan(op, 1<<22), b.Plan(op, 1<<22)
			assert.Equal(t, p.Uncontended(), q.Uncontended(), "%s %v", name, op)
		}
	}
}

// TestTwoIslands is the lesson of two NVLink islands joined by PCIe: a flat
// ring of eight is bound by the PCIe hop, the hierarchical all-reduce moves
// less over it, and a group inside one island none.
func TestTwoIslands(t *testing.T) {
	top := build(t, interconnect.Config{GPUsPerNode: 8, Kind: interconnect.Islands, IslandSize: 4, ComputeCapability: 90, NVLinks: 18, NVLinkBandwidth: 25e9, PCIeGen: 5})
	times := map[string]sim.Time{}
	for name, c := range map[string]struct {
		ranks int
		s     Settings
	}{
		"flat": {8, Settings{}}, "hierarchical": {8, Settings{Algo: []string{"Hierarchical"}}}, "inside": {4, Settings{}},
	} {
		cm := first(t, top, c.ranks, c.s)
		p := cm.Plan(AllReduce, 1<<28)
		times[name] = p.Uncontended()
		assert.Equal(t, p.Uncontended(), simulated(t, top, p), name)
		if name != "inside" {
			assert.Contains(t, []interconnect.LinkKind{interconnect.LinkPCIe, interconnect.LinkSocket, interconnect.LinkMemory}, top.Link(p.Bottleneck).Kind, name)
		}
	}
	assert.Less(t, times["hierarchical"], times["flat"])
	assert.Less(t, 5*times["inside"], times["hierarchical"])

	one := first(t, top, 4, Settings{})
	for _, n := range []int{4, 7} {
		cm := first(t, top, n, Settings{Algo: []string{"hierarchical"}})
		assert.Equal(t, Ring, cm.Plan(AllReduce, 1<<20).Algorithm, "one island, or islands of different size")
	}
	assert.Equal(t, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}, top.Islands(First(8)))
	assert.Len(t, one.rings, 6, "a mesh of four has six rings")
}

func TestSettingsHaveEffects(t *testing.T) {
	top := build(t, nvswitch(90, 18, "intel"))
	at := func(op Op, bytes int64, s Settings) *Plan {
		cm := first(t, top, 8, s)
		return cm.Plan(op, bytes)
	}
	big := int64(1) << 28
	free := at(AllReduce, big, Settings{})
	ring := at(AllReduce, big, Settings{Algo: []string{"ring"}})
	assert.Equal(t, NVLS, free.Algorithm)
	assert.Equal(t, Ring, ring.Algorithm)
	assert.Less(t, free.Uncontended(), ring.Uncontended())
	ll := at(AllReduce, big, Settings{Proto: []string{"LL"}})
	assert.Equal(t, LL, ll.Protocol)
	assert.Greater(t, ll.Uncontended(), ring.Uncontended())
	few := at(AllReduce, big, Settings{MaxChannels: 2, Algo: []string{"ring"}})
	assert.Equal(t, 2, few.Channels)
	assert.Greater(t, few.Uncontended(), 3*ring.Uncontended())
	off := at(AllReduce, big, Settings{P2PDisable: true})
	assert.Greater(t, off.Uncontended(), 5*free.Uncontended())
	small := at(AllReduce, 64<<10, Settings{})
	assert.Equal(t, 2, small.Channels, "small messages use few channels")
	_, err := library(t, top, Settings{Algo: []string{"PAT"}}).Communicator(AllReduce, First(8))
	assert.ErrorContains(t, err, "no algorithm and protocol is left")
}

func TestCommunicatorRefuses(t *testing.T) {
	top := build(t, nvswitch(90, 18, "intel"))
	for _, c := range []struct {
		group []int
		s     Settings
		want  string
	}{
		{nil, Settings{}, "at least one device"},
		{[]int{0, 8}, Settings{}, "device 8 does not exist: the cluster has devices 0 to 7"},
		{[]int{3, 1, 3}, Settings{}, "device 3 is in the communicator twice"},
		{[]int{0}, Settings{Algo: []string{"Rong"}}, `nccl.algo: unknown algorithm "Rong"`},
		{[]int{0}, Settings{Proto: []string{"LL64"}}, `nccl.proto: unknown protocol "LL64"`},
		{[]int{0}, Settings{MinChannels: 8, MaxChannels: 4}, "nccl.min_nchannels: 8 is above max_nchannels = 4"},
		{[]int{0}, Settings{MaxChannels: 65}, "nccl.max_nchannels: 65 is out of range"},
		{[]int{0}, Settings{BuffSize: -1}, "nccl.buffsize"},
		{[]int{0}, Settings{P2PLevel: "FAR"}, `nccl.p2p_level: unknown level "FAR"`},
		{[]int{0}, Settings{Model: "magic"}, `nccl.model: unknown model "magic"`},
	} {
		lib, err := New(top, c.s)
		if err == nil {
			_, err = lib.Communicator(AllReduce, c.group)
		}
		assert.ErrorContains(t, err, c.want)
	}
	one, err := library(t, top, Settings{}).Communicator(AllReduce, []int{5})
	require.NoError(t, err)
	p := one.Plan(AllReduce, 1<<20)
	assert.Zero(t, p.Uncontended(), "a rank alone has nothing to do")
	assert.Zero(t, one.MemoryBytes(AllReduce))
}

func TestNames(t *testing.T) {
	for _, op := range Ops() {
		var back Op
		require.NoError(t, back.UnmarshalText([]byte(op.String())))
		assert.Equal(t, op, back)
	}
	var op Op
	require.NoError(t, op.UnmarshalText([]byte("alltoall")))
	assert.Equal(t, AllToAll, op)
	require.NoError(t, op.UnmarshalText([]byte("reduce_scatter")))
	assert.Equal(t, ReduceScatter, op)
	assert.ErrorContains(t, op.UnmarshalText([]byte("scan")), "write one of all-reduce")
	assert.Equal(t, "NVLSTree", NVLSTree.String())
	assert.Equal(t, "LL128", LL128.String())
}

// What a call reads and writes in device memory: three times its bus traffic on
// rings, six times the vector through NVLink SHARP, four times a message.
func TestMemoryBytes(t *testing.T) {
	top := build(t, nvswitch(90, 18, "intel"))
	cm := first(t, top, 8, Settings{})
	const size = 1 << 30
	ring := cm.Plan(AllGather, size)
	require.Equal(t, Ring, ring.Algorithm)
	assert.InEpsilon(t, 3*7.0/8*size, ring.MemoryBytes(), 1e-12)
	sharp := cm.Plan(AllReduce, size)
	require.Equal(t, NVLS, sharp.Algorithm)
	assert.InEpsilon(t, 6.0*size, sharp.MemoryBytes(), 1e-12)
	send := library(t, top, Settings{}).Send(0, 1, size)
	assert.InEpsilon(t, 4.0*size, send.MemoryBytes(), 1e-12)
	assert.InEpsilon(t, ring.MemoryBytes()/ring.Uncontended().Seconds(), ring.MemoryRate(), 1e-12)
	free := first(t, top, 8, Settings{Model: "free"})
	none := free.Plan(AllReduce, size)
	assert.Zero(t, none.MemoryRate())
}
