package interconnect

import (
	"sort"

	"trainsim/sim"
)

// idealPlan runs a ring at the links' own latency and bandwidth: an all-reduce
// of S bytes over p ranks takes 2(p-1)(alpha + S/(p*B)).
func (c *Communicator) idealPlan(p Plan, op Op, bytes int64) Plan {
	tr := c.trafficOf(op)
	p.Latency = sim.Time(steps(op, len(c.devices))) * tr.hop
	c.t.scale(&p, float64(bytes)*volume(op, len(c.devices)), 0, tr.uses)
	return p
}

// steps is the number of hops that a ring makes one after the other.
func steps(op Op, n int) int {
	switch op {
	case AllReduce:
		return 2 * (n - 1)
	case SendRecv, AllToAll:
		return 1
	}
	return n - 1
}

// volume is the number of bytes that an edge of the ring carries for one byte
// of the full vector.
func volume(op Op, n int) float64 { return op.BusFactor(n) }

// trafficOf returns an operation's weights for one byte on each ring edge, the
// bytes of all rings together.
func (c *Communicator) trafficOf(op Op) *traffic {
	tr := &c.traffic[op]
	if tr.ready {
		return tr
	}
	acc := newAccumulator(c.t)
	if op == AllToAll {
		tr.hop = c.addPairs(acc)
	} else {
		tr.hop = c.addRings(acc, op == Broadcast || op == Reduce)
	}
	tr.uses = acc.uses()
	tr.ready = true
	return tr
}

// addRings adds the edges of all rings; chain leaves out the edge that closes
// each, as a broadcast does. It returns the slowest hop.
func (c *Communicator) addRings(acc *accumulator, chain bool) sim.Time {
	var hop sim.Time
	for _, r := range c.rings {
		for i, a := range r.order {
			if chain && i == len(r.order)-1 {
				break
			}
			way := c.t.route(a, r.order[(i+1)%len(r.order)], c.level)
			acc.add(way.uses, r.share)
			hop = max(hop, c.t.latency(way.uses))
		}
	}
	return hop
}

// addPairs adds an exchange between all pairs: each rank sends one byte in
// all, spread evenly over its peers.
func (c *Communicator) addPairs(acc *accumulator) sim.Time {
	var hop sim.Time
	share := 1 / float64(len(c.devices)-1)
	for _, a := range c.devices {
		for _, b := range c.devices {
			if a != b {
				way := c.t.route(a, b, c.level)
				acc.add(way.uses, share)
				hop = max(hop, c.t.latency(way.uses))
			}
		}
	}
	return hop
}

// accumulator sums the weights of links.
type accumulator struct {
	weight  []float64
	touched []LinkID
}

func newAccumulator(t *Topology) *accumulator {
	return &accumulator{weight: make([]float64, len(t.links))}
}

func (a *accumulator) add(uses []LinkUse, factor float64) {
	for _, u := range uses {
		if a.weight[u.Link] == 0 {
			a.touched = append(a.touched, u.Link)
		}
		a.weight[u.Link] += float64(u.Weight * factor)
	}
}

// uses returns the sums in the order of the links.
func (a *accumulator) uses() []LinkUse {
	sort.Slice(a.touched, func(i, j int) bool { return a.touched[i] < a.touched[j] })
	out := make([]LinkUse, len(a.touched))
	for i, l := range a.touched {
		out[i] = LinkUse{l, a.weight[l]}
	}
	return out
}
