package interconnect_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
)

// run is one simulation of transfers with the instants at which they start.
type run struct {
	engine sim.Engine
	net    *interconnect.Network
	ends   map[uint32]sim.Time
	plans  []nccl.Call
	id     sim.HandlerID
}

func newRun(top *interconnect.Topology) *run {
	r := &run{ends: map[uint32]sim.Time{}}
	r.net = interconnect.NewNetwork(&r.engine, top)
	r.id = r.engine.Register(r)
	return r
}

// Handle starts the plan arg (kind 0) or notes its end (kind 1).
func (r *run) Handle(k *sim.Engine, kind uint16, arg uint32) error {
	if kind == 0 {
		p := &r.plans[arg]
		r.net.Start(&p.Transfer, p.Base, r.id, 1, arg)
	} else {
		r.ends[arg] = k.Now()
	}
	return nil
}

func (r *run) start(at sim.Time, p nccl.Call) {
	r.plans = append(r.plans, p)
	r.engine.At(at, r.id, 0, uint32(len(r.plans)-1))
}

func (r *run) finish(t *testing.T) []sim.Time {
	require.NoError(t, r.engine.Run(context.Background()))
	ends := make([]sim.Time, len(r.plans))
	for i := range ends {
		end, ok := r.ends[uint32(i)]
		require.True(t, ok, "transfer %d never ended", i)
		ends[i] = end
	}
	return ends
}

// TestBytesAreConserved compares what the links carried with what the plans
// put on them, and the record of rates with both.
func TestBytesAreConserved(t *testing.T) {
	top, err := interconnect.Build(h100Node(2))
	require.NoError(t, err)
	lib, c := group(t, top, 16, nccl.Settings{})
	r := newRun(top)
	recorded := make([]float64, top.Links())
	rate, since := make([]float64, len(recorded)), make([]sim.Time, len(recorded))
	r.net.Record(func(at sim.Time, l interconnect.LinkID, x float64) {
		recorded[l] += rate[l] * (at - since[l]).Seconds()
		rate[l], since[l] = x, at
		require.LessOrEqual(t, x, top.Link(l).Capacity*(1+1e-9))
	})
	want := make([]float64, len(recorded))
	for i := range 40 {
		p := c.Call([]nccl.Op{nccl.AllReduce, nccl.AllGather, nccl.AllToAll}[i%3], 1<<20+int64(i)<<14)
		if i%4 == 3 {
			p = lib.Send(i%16, (i*7+8)%16, 1<<22)
		}
		for _, u := range p.Links {
			want[p.Base+u.Link] += u.Weight * float64(p.Bytes)
		}
		r.start(sim.Time(i)*5*sim.Microsecond, p)
	}
	ends := r.finish(t)
	used := 0
	for _, u := range r.net.Utilisation() {
		used++
		assert.InEpsilon(t, want[u.Link], u.Bytes, 1e-9)
		assert.InEpsilon(t, want[u.Link], recorded[u.Link], 1e-6, top.Link(u.Link).Name)
		assert.LessOrEqual(t, u.Bytes, top.Link(u.Link).Capacity*u.Busy.Seconds()*(1+1e-9))
	}
	assert.Greater(t, used, 50)
	again := newRun(top)
	again.plans = r.plans
	for i := range r.plans {
		again.engine.At(sim.Time(i)*5*sim.Microsecond, again.id, 0, uint32(i))
	}
	assert.Equal(t, ends, again.finish(t), "two runs are equal")
}

// TestScaling doubles every rate and halves every latency: all ends halve.
func TestScaling(t *testing.T) {
	ends := func(factor int64) []sim.Time {
		cfg, rate := h100Node(2), sim.Bandwidth(factor)
		cfg.NVLinkBandwidth, cfg.PCIeBandwidth, cfg.NICBandwidth = 25e9*rate, 50e9*rate, 50e9*rate
		cfg.NVLinkLatency, cfg.PCIeLatency = 4*sim.Microsecond/sim.Time(factor), 4*sim.Microsecond/sim.Time(factor)
		cfg.NICLatency = 8 * sim.Microsecond / sim.Time(factor)
		top := build(t, cfg)
		_, c := group(t, top, 16, nccl.Settings{Model: "ideal"})
		r := newRun(top)
		for i := range 20 {
			p := c.Call(nccl.AllReduce, int64(1+i)<<20)
			r.start(sim.Time(i)*8*sim.Microsecond/sim.Time(factor), p)
		}
		return r.finish(t)
	}
	slow, fast := ends(1), ends(2)
	for i := range slow {
		assert.InDelta(t, float64(slow[i])/2, float64(fast[i]), 50)
	}
}

func TestNoAllocationInSteadyState(t *testing.T) {
	top, err := interconnect.Build(h100Node(1))
	require.NoError(t, err)
	_, c := group(t, top, 4, nccl.Settings{})
	p := c.Call(nccl.AllReduce, 1<<20)
	var e sim.Engine
	r := &repeater{n: interconnect.NewNetwork(&e, top), plans: []nccl.Call{p, p, p}}
	r.id = e.Register(r)
	round := func() {
		r.left = 100
		for i := range r.plans {
			r.n.Start(&p.Transfer, p.Base, r.id, 0, uint32(i))
		}
		if err := e.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	assert.Zero(t, testing.AllocsPerRun(10, round))
}
