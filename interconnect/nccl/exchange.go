package nccl

import (
	"trainsim/interconnect"
	"trainsim/sim"
)

// addPairs adds an exchange between all pairs: each rank sends its part to
// every other. It returns the slowest hop. Pairs of different nodes are counted
// by card and leaf switch instead of one by one, so that thousands of ranks
// cost what their links cost.
func (c *Communicator) addPairs(acc *interconnect.Loads, factor float64) sim.Time {
	share := factor / float64(len(c.devices)-1)
	slowest := c.addLocalPairs(acc, share)
	if len(c.groups) > 1 {
		slowest = max(slowest, c.addRemotePairs(acc, share))
	}
	return slowest
}

// addShift adds a message from every rank to the next. It returns the slowest
// hop.
func (c *Communicator) addShift(acc *interconnect.Loads, factor float64) sim.Time {
	var slowest sim.Time
	for i, a := range c.devices {
		way := c.t.Route(a, c.devices[(i+1)%len(c.devices)], c.level)
		acc.Add(way.Uses, factor)
		slowest = max(slowest, c.t.Latency(way.Uses))
	}
	return slowest
}

func (c *Communicator) addLocalPairs(acc *interconnect.Loads, share float64) sim.Time {
	var slowest sim.Time
	for _, g := range c.groups {
		for _, a := range g.devices {
			for _, b := range g.devices {
				if a != b {
					way := c.t.Route(a, b, c.level)
					acc.Add(way.Uses, share)
					slowest = max(slowest, c.t.Latency(way.Uses))
				}
			}
		}
	}
	return slowest
}

// census counts a communicator's devices by network card, in all and by leaf
// switch.
type census struct {
	byCard []int
	byLeaf []int
}

func (c *Communicator) countDevices(devices []int) census {
	s := census{byCard: make([]int, c.t.Cards()), byLeaf: make([]int, c.t.Leaves())}
	for _, d := range devices {
		card := c.t.Card(d)
		s.byCard[card]++
		if len(s.byLeaf) > 0 {
			s.byLeaf[c.t.Leaf(c.t.DomainOf(d), card)]++
		}
	}
	return s
}

func (c *Communicator) addRemotePairs(acc *interconnect.Loads, share float64) sim.Time {
	all := c.countDevices(c.devices)
	for i := range c.groups {
		g := &c.groups[i]
		own := c.countDevices(g.devices)
		remote := len(c.devices) - len(g.devices)
		for _, d := range g.devices {
			acc.Add(c.t.Ingress(d), share*float64(remote))
			for card := range all.byCard {
				if n := all.byCard[card] - own.byCard[card]; n > 0 {
					acc.Add(c.t.Egress(d, c.t.SendingCard(d, card)), share*float64(n))
				}
			}
		}
		c.addUplinks(acc, g, all, own, share)
	}
	a, b := c.groups[0].devices[0], c.groups[1].devices[0]
	return c.t.Latency(c.t.Route(a, b, c.level).Uses)
}

// addUplinks adds the leaf switches' share of what a node sends to others.
func (c *Communicator) addUplinks(acc *interconnect.Loads, g *group, all, own census, share float64) {
	for leaf := range all.byLeaf {
		n := all.byLeaf[leaf] - own.byLeaf[leaf]
		if n == 0 {
			continue
		}
		for _, d := range g.devices {
			from := c.t.Leaf(g.node, c.t.SendingCard(d, c.t.Rail(leaf)))
			acc.Add(c.t.Uplinks(from, leaf), share*float64(n))
		}
	}
}
