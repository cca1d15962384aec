package nccl

import (
	"trainsim/interconnect"
	"trainsim/sim"
)

// addPairs adds an exchange between all pairs: each rank sends its part to
// every other. It returns the slowest hop. Pairs of different nodes are counted
// by card and leaf switch instead of one by one, so that thousands of ranks
// cost what their links cost.
func (c *shape) addPairs(acc *interconnect.Loads, factor float64) sim.Time {
	share := factor / float64(len(c.devices)-1)
	slowest := c.addLocalPairs(acc, share)
	if len(c.groups) > 1 {
		slowest = max(slowest, c.addRemotePairs(acc, share))
	}
	return slowest
}

// addShift adds a message from every rank to the next. It returns the slowest
// hop.
func (c *shape) addShift(acc *interconnect.Loads, factor float64) sim.Time {
	var slowest sim.Time
	for i, a := range c.devices {
		way := c.t.Route(a, c.devices[(i+1)%len(c.devices)], c.level)
		acc.Add(0, way.Uses, factor)
		slowest = max(slowest, c.t.Latency(way.Uses))
	}
	return slowest
}

// addLocalPairs adds the pairs inside nodes.
func (c *shape) addLocalPairs(acc *interconnect.Loads, share float64) sim.Time {
	var slowest sim.Time
	for _, g := range c.groups {
		if g.local == nil {
			g.local = c.pairsOf(g.footprint)
		}
		for _, h := range g.local {
			acc.Add(c.t.Base(g.domain), h.uses, share)
			slowest = max(slowest, h.latency)
		}
	}
	return slowest
}

func (c *shape) pairsOf(f *footprint) []hop {
	var pairs []hop
	devices := c.members(f)
	for _, a := range devices {
		for _, b := range devices {
			if a != b {
				pairs = append(pairs, c.hopOf(f.domain, c.t.Route(a, b, c.level).Uses))
			}
		}
	}
	return pairs
}

// remote is how a node's devices reach those of other nodes.
type remote struct {
	byCard  []int   // devices by their network card
	ingress []hop   // by device, from the wire
	egress  [][]hop // by device and card of another node, onto the wire
	rail    [][]int // by device and rail: the card that it sends through
}

func (c *shape) remoteOf(f *footprint) *remote {
	cards := c.t.Cards()
	r := &remote{byCard: make([]int, cards)}
	for _, d := range c.members(f) {
		r.byCard[c.t.Card(d)]++
		r.ingress = append(r.ingress, c.hopOf(f.domain, c.t.Ingress(d, c.t.Card(d))))
		out, via := make([]hop, cards), make([]int, cards)
		for card := range out {
			via[card] = c.t.SendingCard(d, card)
			out[card] = c.hopOf(f.domain, c.t.Egress(d, via[card]))
		}
		r.egress, r.rail = append(r.egress, out), append(r.rail, via)
	}
	return r
}

// census counts a communicator's devices by network card, in all and by leaf
// switch.
type census struct {
	byCard []int
	byLeaf []int
}

func (c *shape) newCensus() census {
	return census{byCard: make([]int, c.t.Cards()), byLeaf: make([]int, c.t.Leaves())}
}

// count adds the devices of a node.
func (s *census) count(c *shape, g group) {
	for card, n := range g.remote.byCard {
		s.byCard[card] += n
		if len(s.byLeaf) > 0 && n > 0 {
			s.byLeaf[c.t.Leaf(g.domain, card)] += n
		}
	}
}

// addRemotePairs adds the pairs of different nodes.
func (c *shape) addRemotePairs(acc *interconnect.Loads, share float64) sim.Time {
	all := c.newCensus()
	for _, g := range c.groups {
		if g.remote == nil {
			g.remote = c.remoteOf(g.footprint)
		}
		all.count(c, g)
	}
	for _, g := range c.groups {
		base, elsewhere := c.t.Base(g.domain), len(c.devices)-len(g.places)
		for i := range g.places {
			acc.Add(base, g.remote.ingress[i].uses, share*float64(elsewhere))
			for card := range all.byCard {
				if n := all.byCard[card] - g.remote.byCard[card]; n > 0 {
					acc.Add(base, g.remote.egress[i][card].uses, share*float64(n))
				}
			}
		}
		c.addUplinks(acc, g, all, share)
	}
	a, b := c.device(c.groups[0].domain, c.groups[0].places[0]), c.device(c.groups[1].domain, c.groups[1].places[0])
	return c.t.Latency(c.t.Route(a, b, c.level).Uses)
}

// addUplinks adds the leaf switches' share of what a node sends to others.
func (c *shape) addUplinks(acc *interconnect.Loads, g group, all census, share float64) {
	if len(all.byLeaf) == 0 {
		return
	}
	own := c.newCensus()
	own.count(c, g)
	for leaf := range all.byLeaf {
		n := all.byLeaf[leaf] - own.byLeaf[leaf]
		if n == 0 {
			continue
		}
		for i := range g.places {
			from := c.t.Leaf(g.domain, g.remote.rail[i][c.t.Rail(leaf)])
			acc.Add(0, c.t.Uplinks(from, leaf), share*float64(n))
		}
	}
}
