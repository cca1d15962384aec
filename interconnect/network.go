package interconnect

import (
	"math"

	"trainsim/sim"
)

// Kinds of events that a Network sends to itself.
const (
	eventEnter uint16 = iota // a transfer's latency is over; arg is its slot
	eventAlone               // an uncontended transfer ends; arg is its slot
	eventWake                // the next contended transfers end
	eventSolve               // end of an instant in which something changed
	eventFault               // a link's capacity changes; arg indexes faults
)

// state is where a transfer stands.
type state uint8

const (
	free      state = iota
	waiting         // pays its latency
	alone           // shares no link with another transfer
	contended       // its rate comes from the solver
)

// flow is one running transfer.
type flow struct {
	transfer *Transfer
	base     LinkID
	links    []int32 // of the transfer's links: position in Network.links
	left     float64 // bytes to go at time since
	rate     float64
	since    sim.Time
	finish   sim.Time
	arg      uint32
	dst      sim.HandlerID
	kind     uint16
	state    state
	mark     uint32 // solver's visit stamp
	index    int32  // position in Network.contended
}

// linkState is a link during a run.
type linkState struct {
	id        LinkID
	capacity  float64
	bytes     float64 // carried by finished transfers
	load      float64 // rate at the last solve; kept only for the record hook
	flows     []crossing
	busy      sim.Time // summed over finished busy spells
	busySince sim.Time
	mark      uint32
}

// crossing is one transfer's use of a link.
type crossing struct {
	flow   int32
	weight float64
}

// Network runs transfers on a topology's links. It belongs to one engine.
type Network struct {
	engine    *sim.Engine
	id        sim.HandlerID
	topology  *Topology
	links     []linkState // those that carried anything
	linkAt    []int32     // by link: position in links and one more, 0: none
	flows     []flow
	free      []int32
	contended []int32  // slots of the transfers in state contended
	wakeAt    sim.Time // earliest pending wake-up
	dirty     []int32  // links where something changed in this instant
	solving   bool     // a solve is scheduled for the end of this instant
	changed   bool     // some capacity differs from the topology's
	faults    []fault
	record    func(at sim.Time, link LinkID, rate float64)
	solver    solver
}

type fault struct {
	link   LinkID
	factor float64
}

// NewNetwork makes the network of a topology and registers it with the engine.
func NewNetwork(e *sim.Engine, t *Topology) *Network {
	n := &Network{engine: e, topology: t, linkAt: make([]int32, t.Links()), wakeAt: sim.Forever}
	n.id = e.Register(n)
	return n
}

// link returns the position of a link in n.links.
func (n *Network) link(id LinkID) int32 {
	if n.linkAt[id] == 0 {
		n.links = append(n.links, linkState{id: id, capacity: n.topology.Capacity(id)})
		n.linkAt[id] = int32(len(n.links))
	}
	return n.linkAt[id] - 1
}

// Record makes the network call f whenever the rate on a link changes. It must
// be set before the first Start.
func (n *Network) Record(f func(at sim.Time, link LinkID, rate float64)) { n.record = f }

// Start begins a transfer, whose links are numbered from base, and delivers (kind,
// arg) to dst when it is done. The transfer must stay unchanged until then.
func (n *Network) Start(p *Transfer, base LinkID, dst sim.HandlerID, kind uint16, arg uint32) {
	if p.Bytes == 0 {
		n.engine.After(p.Latency, dst, kind, arg)
		return
	}
	slot := n.take()
	f := &n.flows[slot]
	f.transfer, f.base, f.dst, f.kind, f.arg, f.state = p, base, dst, kind, arg, waiting
	if p.Latency > 0 {
		n.engine.After(p.Latency, n.id, eventEnter, uint32(slot))
		return
	}
	n.enter(slot)
}

func (n *Network) take() int32 {
	if last := len(n.free) - 1; last >= 0 {
		slot := n.free[last]
		n.free = n.free[:last]
		return slot
	}
	n.flows = append(n.flows, flow{})
	return int32(len(n.flows) - 1)
}

// SetCapacity makes a link's capacity factor times the topology's from a time
// on (now, where that lies in the past). A factor of 0 is taken as the
// smallest that still moves data.
func (n *Network) SetCapacity(link LinkID, factor float64, from sim.Time) {
	n.faults = append(n.faults, fault{link, max(factor, 1e-9)})
	n.engine.At(max(from, n.engine.Now()), n.id, eventFault, uint32(len(n.faults)-1))
}

// Handle receives the network's own events from the engine.
func (n *Network) Handle(_ *sim.Engine, kind uint16, arg uint32) error {
	switch kind {
	case eventEnter:
		n.enter(int32(arg))
	case eventAlone:
		f := &n.flows[arg]
		if f.state == alone && f.finish == n.engine.Now() {
			n.finish(int32(arg))
		}
	case eventWake:
		n.wake()
	case eventSolve:
		n.solving = false
		n.solve()
	case eventFault:
		n.fail(n.faults[arg])
	}
	return nil
}

// enter puts a transfer on its links. Where it meets nobody its end is known
// at once; otherwise the solver is called at the end of the instant.
func (n *Network) enter(slot int32) {
	f := &n.flows[slot]
	now := n.engine.Now()
	f.left, f.since, f.rate = float64(f.transfer.Bytes), now, 0
	meets := false
	f.links = f.links[:0]
	for _, u := range f.transfer.Links {
		at := n.link(f.base + u.Link)
		f.links = append(f.links, at)
		l := &n.links[at]
		if len(l.flows) == 0 {
			l.busySince = now
		} else {
			meets = true
		}
		l.flows = append(l.flows, crossing{slot, u.Weight})
	}
	if meets {
		n.contend(slot)
		return
	}
	f.state = alone
	f.rate = f.transfer.rate
	if n.changed {
		f.rate = n.rateAlone(f)
	}
	f.finish = now.Plus(max(transferTime(f.transfer.Bytes, f.rate), 1))
	n.engine.At(f.finish, n.id, eventAlone, uint32(slot))
	if n.record != nil {
		n.report(f.links)
	}
}

// contend hands a transfer, and through its links all that it meets, to the
// solver.
func (n *Network) contend(slot int32) {
	f := &n.flows[slot]
	f.state = contended
	f.finish = sim.Forever
	f.index = int32(len(n.contended))
	n.contended = append(n.contended, slot)
	n.dirtyShared(f)
	n.scheduleSolve()
}

// dirtyShared marks the links that a transfer shares.
func (n *Network) dirtyShared(f *flow) {
	for _, at := range f.links {
		if len(n.links[at].flows) > 1 {
			n.dirty = append(n.dirty, at)
		}
	}
}

func (n *Network) scheduleSolve() {
	if !n.solving {
		n.solving = true
		n.engine.AtEnd(n.id, eventSolve, 0)
	}
}

// rateAlone is the rate of a transfer that has its links to itself, at their
// present capacities.
func (n *Network) rateAlone(f *flow) float64 {
	rate := math.Inf(1)
	if f.transfer.Cap > 0 {
		rate = f.transfer.Cap
	}
	for i, u := range f.transfer.Links {
		rate = min(rate, n.links[f.links[i]].capacity/u.Weight)
	}
	return rate
}

// wake finishes the contended transfers whose time has come.
func (n *Network) wake() {
	now := n.engine.Now()
	if n.wakeAt != now {
		return
	}
	n.wakeAt = sim.Forever
	ended := false
	for i := 0; i < len(n.contended); {
		slot := n.contended[i]
		f := &n.flows[slot]
		if f.finish > now {
			i++
			continue
		}
		n.dirtyShared(f)
		n.uncontend(slot)
		n.finish(slot)
		ended = true
	}
	if ended {
		n.scheduleSolve()
	} else {
		n.scheduleWake()
	}
}

// uncontend takes a transfer out of the contended ones.
func (n *Network) uncontend(slot int32) {
	i := n.flows[slot].index
	last := int32(len(n.contended) - 1)
	moved := n.contended[last]
	n.contended[i] = moved
	n.flows[moved].index = i
	n.contended = n.contended[:last]
}

// finish takes a transfer off its links and tells its owner.
func (n *Network) finish(slot int32) {
	f := &n.flows[slot]
	now := n.engine.Now()
	for i, u := range f.transfer.Links {
		n.links[f.links[i]].leave(slot, float64(u.Weight*float64(f.transfer.Bytes)), now)
	}
	if n.record != nil {
		n.report(f.links)
	}
	f.state = free
	f.transfer = nil
	n.free = append(n.free, slot)
	n.engine.At(now, f.dst, f.kind, f.arg)
}

// leave removes a transfer from a link.
func (l *linkState) leave(slot int32, bytes float64, now sim.Time) {
	for i := range l.flows {
		if l.flows[i].flow == slot {
			last := len(l.flows) - 1
			l.flows[i] = l.flows[last]
			l.flows = l.flows[:last]
			break
		}
	}
	l.bytes += bytes
	if len(l.flows) == 0 {
		l.busy += now - l.busySince
	}
}

// fail applies a change of capacity.
func (n *Network) fail(f fault) {
	n.changed = true
	at := n.link(f.link)
	n.links[at].capacity = n.topology.Capacity(f.link) * f.factor
	if len(n.links[at].flows) > 0 {
		n.dirty = append(n.dirty, at)
		n.scheduleSolve()
	}
}

// report passes the rates of the links on to the record hook where they
// changed.
func (n *Network) report(links []int32) {
	for _, at := range links {
		l := &n.links[at]
		load := 0.0
		for _, c := range l.flows {
			load += float64(c.weight * n.flows[c.flow].rate)
		}
		if load != l.load {
			l.load = load
			n.record(n.engine.Now(), l.id, load)
		}
	}
}
