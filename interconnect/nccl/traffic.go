package nccl

import (
	"trainsim/interconnect"
	"trainsim/sim"
)

// pattern is which links a collective uses and how much.
type pattern uint8

const (
	onRings  pattern = iota // every edge of the rings carries the same
	onChains                // the same without the edge that closes each ring
	onPairs                 // every rank sends to every other
	onShift                 // every rank sends to the next one
	onSwitch                // NVLink SHARP: through the switches, and between nodes by trees
	onTrees                 // chains inside nodes, double trees between them
)

// trafficKey names what traffic depends on.
type trafficKey struct {
	op       Op
	pattern  pattern
	protocol Protocol
}

// traffic is what one operation puts on links.
type traffic struct {
	interconnect.Traffic
	hop sim.Time // the slowest hop
}

// wire is how many bytes a protocol moves for one byte of data: LL sends 4
// bytes of flag with 4 of data, LL128 8 with 120.
var wire = [numProtocols]float64{LL: 2, LL128: 128.0 / 120, Simple: 1}

// trafficOf returns an operation's traffic under a pattern and a protocol.
func (c *shape) trafficOf(op Op, pt pattern, pr Protocol) *traffic {
	key := trafficKey{op, pt, pr}
	if tr := c.traffic[key]; tr != nil {
		return tr
	}
	acc := c.lib.loads()
	defer c.lib.giveBack(acc)
	tr := &traffic{}
	factor := wire[pr] * op.BusFactor(len(c.devices))
	switch pt {
	case onRings, onChains:
		tr.hop = c.addRings(acc, factor, pt == onChains)
	case onPairs:
		tr.hop = c.addPairs(acc, factor)
	case onShift:
		tr.hop = c.addShift(acc, factor)
	case onSwitch:
		c.addSwitchTraffic(acc, op)
	case onTrees:
		c.addChains(acc, 2*wire[pr])
		c.addNetTrees(acc, wire[pr])
	}
	tr.Traffic = c.t.Traffic(acc.Take())
	c.traffic[key] = tr
	return tr
}

// addRings adds the edges of all rings. It returns the slowest hop.
func (c *shape) addRings(acc *interconnect.Loads, factor float64, chain bool) sim.Time {
	var slowest sim.Time
	for _, r := range c.rings {
		for i, p := range r.parts {
			last := i == len(r.parts)-1
			hops := p.hops
			if chain && last && len(r.parts) == 1 {
				hops = hops[:len(hops)-1]
			}
			for _, h := range hops {
				acc.Add(c.t.Base(p.domain), h.uses, factor*r.share)
				slowest = max(slowest, h.latency)
			}
			if len(r.parts) > 1 && !(chain && last) {
				slowest = max(slowest, c.addBetween(acc, &r, i, factor*r.share))
			}
		}
	}
	return slowest
}

// addBetween adds the hop of a ring from its i-th node to the next, and returns
// its latency.
func (c *shape) addBetween(acc *interconnect.Loads, r *ring, i int, factor float64) sim.Time {
	p, q := &r.parts[i], &r.parts[(i+1)%len(r.parts)]
	latency := p.leave.latency + q.enter.latency
	acc.Add(c.t.Base(p.domain), p.leave.uses, factor)
	if c.t.Leaves() > 0 {
		up := c.t.Uplinks(c.t.Leaf(p.domain, p.out), c.t.Leaf(q.domain, q.in))
		acc.Add(0, up, factor)
		latency += c.t.Latency(up)
	}
	acc.Add(c.t.Base(q.domain), q.enter.uses, factor)
	return latency
}

// addSwitchTraffic adds a collective that the NVSwitches reduce or multicast:
// a GPU puts its data out once and takes the result in once; the part of the
// vector for which a GPU is the head goes out, or comes in, once more. Between
// nodes each vector goes up and down two half trees.
func (c *shape) addSwitchTraffic(acc *interconnect.Loads, op Op) {
	for _, g := range c.groups {
		heads := min(len(g.places), maxHeads)
		for i, place := range g.places {
			head := 0.0
			if i < heads {
				head = 1 / float64(heads)
			}
			out, in := 1.0, head
			switch op {
			case AllGather:
				out, in = head, 1
			case AllReduce:
				out, in = 1+head, 1+head
			}
			up, down := c.t.SwitchPorts(c.device(g.domain, place))
			acc.Add(0, []interconnect.LinkUse{{Link: up, Weight: out}, {Link: down, Weight: in}}, 1)
		}
	}
	if len(c.groups) > 1 {
		c.addNetTrees(acc, 1)
	}
}

// addChains adds the hops inside nodes of a tree's chain, which carry the vector up
// and down again.
func (c *shape) addChains(acc *interconnect.Loads, factor float64) {
	for _, r := range c.rings {
		for _, p := range r.parts {
			for _, h := range p.hops {
				acc.Add(c.t.Base(p.domain), h.uses, factor*r.share)
			}
		}
	}
}

// addNetTrees adds what double trees between nodes put on the cards: 2(m-1)/m
// of the vector in and out of each of m nodes on average, as a ring does, split
// over the node's cards.
func (c *shape) addNetTrees(acc *interconnect.Loads, wire float64) {
	m := len(c.groups)
	factor := wire * 2 * float64(m-1) / float64(m)
	for i := range c.rings {
		r := &c.rings[i]
		for k := range r.parts {
			c.addBetween(acc, r, k, factor*r.share)
		}
	}
}
