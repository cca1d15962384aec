package step

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/scenarios"
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/code"
	"trainsim/sim/gpu"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// overlapped is a job of eight data-parallel ranks on one node that reduce
// gradients beside the backward.
func overlapped(t *testing.T) *job.Job {
	d, err := scenarios.LoadGPU("h100-sxm5-80gb")
	require.NoError(t, err)
	c := &job.Config{
		Name: "overlapped", Seed: 1, GPU: *d,
		Model: model.Config{Layers: 4, Hidden: 1024, Heads: 16, KVHeads: 16, FFN: 4096, Vocab: 32000, SeqLen: 1024,
			MLP: model.GELU, Norm: model.LayerNorm, Position: model.Rotary, Attention: model.Flash, FinalNorm: true},
		Cluster: interconnect.Config{GPUsPerNode: 8, Kind: interconnect.NVSwitch, ComputeCapability: 90,
			NVLinks: 18, NVLinkBandwidth: 25e9},
		Parallel: job.Parallel{TP: 1, PP: 1, DP: 8, CP: 1, EP: 1, OverlapGradReduce: true},
		Schedule: job.Schedule{Kind: "1f1b", Microbatches: 1, MicrobatchSize: 1, VirtualStages: 1},
		Training: job.Training{Precision: "bf16", GradPrecision: "fp32", Optimizer: "adam", Recompute: "none"},
		Memory:   job.Memory{Fraction: 1},
	}
	require.NoError(t, scenarios.SetFramework(c, "none", "", "."))
	j, err := job.Build(context.Background(), c, account.Peaks)
	require.NoError(t, err)
	return j
}

// A memory-bound kernel beside a collective in flight goes at the memory's rate
// less the collective's, and at its own again from the moment at which that is
// over: the part that is left takes its share of the time alone.
func TestKernelBesideACollective(t *testing.T) {
	var e sim.Engine
	m := newMachine(overlapped(t), &e, nil, false)
	const bytes = 256 << 20
	k := gpu.Kernel{Kind: gpu.Memory, Class: gpu.Copy, ReadBytes: bytes / 2, WriteBytes: bytes / 2}
	id := m.job.Compiler.Price(&k)
	rs := &m.ranks[0]
	alone := m.job.Compiler.Time(&k)
	in := &code.Instr{Kind: code.RunKernel, Index: id, Time: alone}
	rs.heldSMs, rs.memoryTraffic, rs.trafficEnds = 24, 1e12, sim.Second
	slow := m.besideRunning(rs, in, 0)
	d := &m.job.Config.GPU
	fixed := (d.Streaming.Latency + d.LaunchGap).Seconds()
	assert.InEpsilon(t, bytes/(float64(d.MemoryBandwidth)*d.Streaming.Copy-1e12), slow.Seconds()-fixed, 1e-6)
	for _, part := range []float64{0.25, 0.5, 0.75} {
		rs.trafficEnds = sim.Time(part * float64(slow))
		want := part*float64(slow) + (1-part)*float64(alone)
		assert.InDelta(t, want, float64(m.besideRunning(rs, in, 0)), 2, "over after %g of it", part)
	}
	rs.trafficEnds = 0
	assert.Equal(t, alone, m.besideRunning(rs, in, 0), "already over")
}

// Attention's blocks wait in line: they take the multiprocessors of a collective
// that is over. A matrix product keeps to those that it found.
func TestMultiprocessorsComeBack(t *testing.T) {
	var e sim.Engine
	m := newMachine(overlapped(t), &e, nil, false)
	rs := &m.ranks[0]
	for _, k := range []gpu.Kernel{
		{
			Kind: gpu.Attention, Batch: 8, Heads: 32, KVHeads: 32, SeqQ: 8192, SeqK: 8192, HeadDim: 128,
			In: gpu.BF16, Out: gpu.BF16,
		},
		{Kind: gpu.GEMM, Batch: 1, M: 8192, N: 8192, K: 8192, In: gpu.BF16, Out: gpu.BF16},
	} {
		id := m.job.Compiler.Price(&k)
		in := &code.Instr{Kind: code.RunKernel, Index: id, Time: m.job.Compiler.Time(&k)}
		rs.heldSMs, rs.trafficEnds = 24, sim.Second
		slow := m.besideRunning(rs, in, 0)
		assert.Greater(t, slow, in.Time)
		rs.trafficEnds = slow / 4
		want := float64(slow)
		if k.Kind == gpu.Attention {
			want = 0.25*float64(slow) + 0.75*float64(in.Time)
		}
		assert.InDelta(t, want, float64(m.besideRunning(rs, in, 0)), 4)
	}
}

// A product in pieces is kernels in a row: the piece that runs when the collective
// ends keeps to the multiprocessors that it found, those after it have all.
func TestPiecesGetMultiprocessorsBack(t *testing.T) {
	var e sim.Engine
	m := newMachine(overlapped(t), &e, nil, false)
	rs := &m.ranks[0]
	k := gpu.Kernel{Kind: gpu.GEMM, Batch: 1, M: 8192, N: 8192, K: 8192, In: gpu.BF16, Out: gpu.BF16}
	id := m.job.Compiler.Price(&k)
	in := &code.Instr{Kind: code.RunKernel, Index: id, Pieces: 4, Time: m.job.Compiler.Time(&k)}
	rs.heldSMs, rs.trafficEnds = 24, sim.Second
	slow := m.besideRunning(rs, in, 0)
	for _, c := range []struct{ over, slowed float64 }{{0.01, 1}, {0.25, 1}, {0.26, 2}, {0.6, 3}, {0.99, 4}} {
		rs.trafficEnds = sim.Time(c.over * float64(slow))
		want := c.slowed/4*float64(slow) + (1-c.slowed/4)*float64(in.Time)
		assert.InDelta(t, want, float64(m.besideRunning(rs, in, 0)), 4, "over after %g", c.over)
	}
}

// An overlapped collective takes memory bandwidth of a rank for as long as it
// needs alone from its start on, and gives all of it back; the rate follows from
// its passes over what it moves on the bus.
func TestCollectivesOccupyMemory(t *testing.T) {
	var e sim.Engine
	m := newMachine(overlapped(t), &e, nil, false)
	id := m.folding.group(model.DP, 0)
	comm := m.job.Compiler.Comm(model.Comm{Collective: model.AllReduce, Group: model.DP, Bytes: 1 << 30})
	s := &m.streams[id]
	s.queue = []entry{{comm: comm, async: true}}
	plan := m.job.Groups[id].Plan(m.job.Compiler.Comms, comm)
	took := plan.Uncontended()
	rs := &m.ranks[3]
	m.hold(rs, id, 1)
	assert.InEpsilon(t, plan.MemoryBytes()/took.Seconds(), float64(rs.memoryTraffic), 1e-9)
	assert.Equal(t, took, rs.trafficEnds)
	assert.Zero(t, m.ranks[0].memoryTraffic, "a rank that has not entered")
	m.hold(rs, id, -1)
	assert.Zero(t, rs.memoryTraffic)
	assert.Zero(t, rs.heldSMs)
	m.extendTraffic(id, &s.queue[0])
	for r := range m.ranks {
		assert.Equal(t, took, m.ranks[r].trafficEnds)
	}
	s.queue[0].async = false
	m.hold(rs, id, 1)
	assert.Zero(t, rs.memoryTraffic, "nothing runs beside a collective that is waited for")
}
