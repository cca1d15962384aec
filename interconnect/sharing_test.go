package interconnect

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// run is one simulation of transfers with the instants at which they start.
type run struct {
	engine sim.Engine
	net    *Network
	ends   map[uint32]sim.Time
	plans  []*Plan
	id     sim.HandlerID
}

func newRun(top *Topology) *run {
	r := &run{ends: map[uint32]sim.Time{}}
	r.net = NewNetwork(&r.engine, top)
	r.id = r.engine.Register(r)
	return r
}

// Handle starts the plan arg (kind 0) or notes its end (kind 1).
func (r *run) Handle(k *sim.Engine, kind uint16, arg uint32) error {
	if kind == 0 {
		r.net.Start(r.plans[arg], r.id, 1, arg)
	} else {
		r.ends[arg] = k.Now()
	}
	return nil
}

func (r *run) start(at sim.Time, p *Plan) {
	r.plans = append(r.plans, p)
	r.engine.At(at, r.id, 0, uint32(len(r.plans)-1))
}

func (r *run) finish(t *testing.T) []sim.Time {
	require.NoError(t, r.engine.Run(context.Background()))
	require.Zero(t, r.net.Active())
	ends := make([]sim.Time, len(r.plans))
	for i := range ends {
		end, ok := r.ends[uint32(i)]
		require.True(t, ok, "transfer %d never ended", i)
		ends[i] = end
	}
	return ends
}

func onLink(top *Topology, bytes int64, uses ...LinkUse) *Plan {
	p := top.Custom(0, bytes, 0, uses)
	return &p
}

func TestEqualTransfersFinishTogether(t *testing.T) {
	top := bareTopology([]float64{1e9})
	r := newRun(top)
	for range 4 {
		r.start(0, onLink(top, 1000, LinkUse{0, 1}))
	}
	assert.Equal(t, []sim.Time{4000000, 4000000, 4000000, 4000000}, r.finish(t))
}

func TestLaterTransferSlowsEarlier(t *testing.T) {
	// 1000 bytes alone for 0.5 us, then shared until the second's 250 bytes are
	// through at 1.0 us, then alone again: 500 + 250 + 250.
	top := bareTopology([]float64{1e9})
	r := newRun(top)
	r.start(0, onLink(top, 1000, LinkUse{0, 1}))
	r.start(500*sim.Nanosecond, onLink(top, 250, LinkUse{0, 1}))
	assert.Equal(t, []sim.Time{1250 * sim.Nanosecond, sim.Microsecond}, r.finish(t))
}

func TestStrangersDoNotMeet(t *testing.T) {
	top := bareTopology([]float64{1e9, 7e8})
	alone := newRun(top)
	alone.start(3, onLink(top, 12345, LinkUse{0, 1}))
	want := alone.finish(t)[0]
	r := newRun(top)
	r.start(3, onLink(top, 12345, LinkUse{0, 1}))
	for i := range 5 {
		r.start(sim.Time(i)*sim.Microsecond, onLink(top, 5000, LinkUse{1, 1}))
	}
	assert.Equal(t, want, r.finish(t)[0])
}

func TestMeetingOnOneLink(t *testing.T) {
	// A ring that puts an eighth of its bytes on a card shares the card evenly
	// with a plain message, whatever else it crosses and whatever limits it
	// when it is alone.
	for _, nvlink := range []float64{300e9, 450e9} {
		top := bareTopology([]float64{nvlink, 50e9})
		ring := onLink(top, 8e9, LinkUse{0, 1}, LinkUse{1, 0.125})
		r := newRun(top)
		r.start(0, ring)
		r.start(0, onLink(top, 1e9, LinkUse{1, 1}))
		assert.Equal(t, []sim.Time{40 * sim.Millisecond, 40 * sim.Millisecond}, r.finish(t))
	}
	top := bareTopology([]float64{450e9, 50e9})
	ring := onLink(top, 8e9, LinkUse{0, 1}, LinkUse{1, 0.125})
	assert.Equal(t, LinkID(1), ring.Bottleneck)
	assert.Equal(t, int64(1e9), ring.Bytes)
}

func TestCapLeavesRoomToOthers(t *testing.T) {
	top := bareTopology([]float64{1e9})
	slow := top.Custom(0, 1000, 1e8, []LinkUse{{0, 1}})
	r := newRun(top)
	r.start(0, &slow)
	r.start(0, onLink(top, 1800, LinkUse{0, 1}))
	assert.Equal(t, []sim.Time{10 * sim.Microsecond, 2 * sim.Microsecond}, r.finish(t))
}

func TestLatencyComesFirst(t *testing.T) {
	top := bareTopology([]float64{1e9})
	late := top.Custom(sim.Microsecond, 1000, 0, []LinkUse{{0, 1}})
	r := newRun(top)
	r.start(0, &late)
	r.start(0, onLink(top, 1000, LinkUse{0, 1}))
	assert.Equal(t, []sim.Time{2 * sim.Microsecond, sim.Microsecond}, r.finish(t), "the link is free while latency is paid")
	nothing := top.Custom(sim.Microsecond, 0, 0, nil)
	r = newRun(top)
	r.start(5, &nothing)
	assert.Equal(t, []sim.Time{5 + sim.Microsecond}, r.finish(t))
}

func TestCapacityChanges(t *testing.T) {
	top := bareTopology([]float64{1e9})
	r := newRun(top)
	r.net.SetCapacity(0, 0.5, sim.Microsecond)
	r.net.SetCapacity(0, 1, 3*sim.Microsecond)
	r.start(0, onLink(top, 2500, LinkUse{0, 1}))
	r.start(10*sim.Microsecond, onLink(top, 1000, LinkUse{0, 1}))
	assert.Equal(t, []sim.Time{3500 * sim.Nanosecond, 11 * sim.Microsecond}, r.finish(t))
	r = newRun(top)
	r.net.SetCapacity(0, 0.25, 0)
	r.start(sim.Microsecond, onLink(top, 1000, LinkUse{0, 1}))
	assert.Equal(t, []sim.Time{5 * sim.Microsecond}, r.finish(t), "a transfer that starts on a slowed link")
}

func TestTimesStandsForMany(t *testing.T) {
	top := bareTopology([]float64{1e9, 1e9})
	one := onLink(top, 1000, LinkUse{0, 1}, LinkUse{1, 0.1})
	four := one.Times(top, 4)
	r := newRun(top)
	for range 4 {
		r.start(0, one)
	}
	r.start(0, onLink(top, 1000, LinkUse{0, 1}))
	want := r.finish(t)
	r = newRun(top)
	r.start(0, &four)
	r.start(0, onLink(top, 1000, LinkUse{0, 1}))
	assert.Equal(t, []sim.Time{want[0], want[4]}, r.finish(t))
	assert.Equal(t, sim.Time(4*sim.Microsecond), four.Uncontended(top))
}

// TestBytesAreConserved compares what the links carried with what the plans
// put on them, and the record of rates with both.
func TestBytesAreConserved(t *testing.T) {
	top, err := Build(h100Node(2))
	require.NoError(t, err)
	c, err := top.Communicator(devices(16), Settings{})
	require.NoError(t, err)
	r := newRun(top)
	recorded := make([]float64, len(top.Links()))
	rate, since := make([]float64, len(recorded)), make([]sim.Time, len(recorded))
	r.net.Record(func(at sim.Time, l LinkID, x float64) {
		recorded[l] += rate[l] * (at - since[l]).Seconds()
		rate[l], since[l] = x, at
		require.LessOrEqual(t, x, top.Links()[l].Capacity*(1+1e-9))
	})
	want := make([]float64, len(recorded))
	for i := range 40 {
		p := c.Plan([]Op{AllReduce, AllGather, AllToAll}[i%3], 1<<20+int64(i)<<14)
		if i%4 == 3 {
			p = top.SendPlan(i%16, (i*7+8)%16, 1<<22, Settings{})
		}
		for _, u := range p.Links {
			want[u.Link] += u.Weight * float64(p.Bytes)
		}
		r.start(sim.Time(i)*5*sim.Microsecond, &p)
	}
	ends := r.finish(t)
	used := 0
	for _, u := range r.net.Utilisation() {
		used++
		assert.InEpsilon(t, want[u.Link], u.Bytes, 1e-9)
		assert.InEpsilon(t, want[u.Link], recorded[u.Link], 1e-6, top.Links()[u.Link].Name)
		assert.LessOrEqual(t, u.Bytes, top.Links()[u.Link].Capacity*u.Busy.Seconds()*(1+1e-9))
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
		cfg := h100Node(2)
		top, err := Build(cfg)
		require.NoError(t, err)
		for i := range top.links {
			top.links[i].Capacity *= float64(factor)
			top.links[i].Latency = 4 * sim.Microsecond / sim.Time(factor)
		}
		c, err := top.Communicator(devices(16), Settings{Model: "ideal"})
		require.NoError(t, err)
		r := newRun(top)
		for i := range 20 {
			p := c.Plan(AllReduce, int64(1+i)<<20)
			r.start(sim.Time(i)*8*sim.Microsecond/sim.Time(factor), &p)
		}
		return r.finish(t)
	}
	slow, fast := ends(1), ends(2)
	for i := range slow {
		assert.InDelta(t, float64(slow[i])/2, float64(fast[i]), 50)
	}
}

func TestNoAllocationInSteadyState(t *testing.T) {
	top, err := Build(h100Node(1))
	require.NoError(t, err)
	c, err := top.Communicator(devices(4), Settings{})
	require.NoError(t, err)
	p := c.Plan(AllReduce, 1<<20)
	var e sim.Engine
	r := &repeater{n: NewNetwork(&e, top), plans: []*Plan{&p, &p, &p}}
	r.id = e.Register(r)
	round := func() {
		r.left = 100
		for i := range r.plans {
			r.n.Start(&p, r.id, 0, uint32(i))
		}
		if err := e.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	assert.Zero(t, testing.AllocsPerRun(10, round))
}
