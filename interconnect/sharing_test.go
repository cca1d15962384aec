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
	plans  []*Transfer
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
		r.net.Start(r.plans[arg], 0, r.id, 1, arg)
	} else {
		r.ends[arg] = k.Now()
	}
	return nil
}

func (r *run) start(at sim.Time, p *Transfer) {
	r.plans = append(r.plans, p)
	r.engine.At(at, r.id, 0, uint32(len(r.plans)-1))
}

func (r *run) finish(t *testing.T) []sim.Time {
	require.NoError(t, r.engine.Run(context.Background()))
	require.Len(t, r.net.free, len(r.net.flows))
	ends := make([]sim.Time, len(r.plans))
	for i := range ends {
		end, ok := r.ends[uint32(i)]
		require.True(t, ok, "transfer %d never ended", i)
		ends[i] = end
	}
	return ends
}

func onLink(top *Topology, bytes int64, uses ...LinkUse) *Transfer {
	return custom(top, 0, bytes, 0, uses)
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
	slow := custom(top, 0, 1000, 1e8, []LinkUse{{0, 1}})
	r := newRun(top)
	r.start(0, slow)
	r.start(0, onLink(top, 1800, LinkUse{0, 1}))
	assert.Equal(t, []sim.Time{10 * sim.Microsecond, 2 * sim.Microsecond}, r.finish(t))
}

func TestLatencyComesFirst(t *testing.T) {
	top := bareTopology([]float64{1e9})
	late := custom(top, sim.Microsecond, 1000, 0, []LinkUse{{0, 1}})
	r := newRun(top)
	r.start(0, late)
	r.start(0, onLink(top, 1000, LinkUse{0, 1}))
	assert.Equal(t, []sim.Time{2 * sim.Microsecond, sim.Microsecond}, r.finish(t), "the link is free while latency is paid")
	nothing := custom(top, sim.Microsecond, 0, 0, nil)
	r = newRun(top)
	r.start(5, nothing)
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

func TestOneStandsForMany(t *testing.T) {
	top := bareTopology([]float64{1e9, 1e9})
	one := onLink(top, 1000, LinkUse{0, 1}, LinkUse{1, 0.1})
	var links []LinkUse
	for _, u := range one.Links {
		links = append(links, LinkUse{u.Link, 4 * u.Weight})
	}
	four := one.Over(top, 0, links)
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
	assert.Equal(t, sim.Time(4*sim.Microsecond), four.Uncontended())
}
