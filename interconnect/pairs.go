package interconnect

import "trainsim/sim"

// addPairs adds an exchange between all pairs: each rank sends its part to
// every other. It returns the slowest hop. Pairs of different nodes are counted
// by card and leaf switch instead of one by one, so that thousands of ranks
// cost what their links cost.
func (c *Communicator) addPairs(acc *accumulator, factor float64) sim.Time {
	share := factor / float64(len(c.devices)-1)
	slowest := c.addLocalPairs(acc, share)
	if len(c.groups) > 1 {
		slowest = max(slowest, c.addRemotePairs(acc, share))
	}
	return slowest
}

// addShift adds a message from every rank to the next. It returns the slowest
// hop.
func (c *Communicator) addShift(acc *accumulator, factor float64) sim.Time {
	var slowest sim.Time
	for i, a := range c.devices {
		way := c.t.route(a, c.devices[(i+1)%len(c.devices)], c.level)
		acc.add(way.uses, factor)
		slowest = max(slowest, c.t.pathLatency(way.uses))
	}
	return slowest
}

func (c *Communicator) addLocalPairs(acc *accumulator, share float64) sim.Time {
	var slowest sim.Time
	for _, g := range c.groups {
		for _, a := range g.devices {
			for _, b := range g.devices {
				if a != b {
					way := c.t.route(a, b, c.level)
					acc.add(way.uses, share)
					slowest = max(slowest, c.t.pathLatency(way.uses))
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
	s := census{byCard: make([]int, len(c.t.node.nics)), byLeaf: make([]int, len(c.t.fabric.leaves))}
	for _, d := range devices {
		s.byCard[c.card(d)]++
		if len(s.byLeaf) > 0 {
			s.byLeaf[c.t.leaf(c.t.NodeOf(d), c.card(d))]++
		}
	}
	return s
}

func (c *Communicator) addRemotePairs(acc *accumulator, share float64) sim.Time {
	all := c.countDevices(c.devices)
	for i := range c.groups {
		g := &c.groups[i]
		own := c.countDevices(g.devices)
		remote := len(c.devices) - len(g.devices)
		for _, d := range g.devices {
			in := c.t.append(nil, g.node, c.t.node.ingress(c.t.local(d), c.card(d), c.t.cfg.NoGPUDirect))
			acc.add(in, share*float64(remote))
			for card := range all.byCard {
				if n := all.byCard[card] - own.byCard[card]; n > 0 {
					acc.add(c.leaving(g.node, d, card), share*float64(n))
				}
			}
		}
		c.addUplinks(acc, g, all, own, share)
	}
	a, b := c.groups[0].devices[0], c.groups[1].devices[0]
	return c.t.pathLatency(c.t.route(a, b, c.level).uses)
}

// leaving returns the links from a device onto the wire towards a card of
// another node.
func (c *Communicator) leaving(node, device, card int) []LinkUse {
	gpu := c.t.local(device)
	from := c.t.node.gpus[gpu].nic
	if c.t.cfg.Fabric == Rails && c.t.node.owner(gpu, card) != none {
		from = card
	}
	return c.t.egressOver(nil, node, gpu, from)
}

// addUplinks adds the leaf switches' share of what a node sends to others.
func (c *Communicator) addUplinks(acc *accumulator, g *group, all, own census, share float64) {
	for leaf, ports := range c.t.fabric.leaves {
		n := all.byLeaf[leaf] - own.byLeaf[leaf]
		if n == 0 {
			continue
		}
		for _, d := range g.devices {
			card := c.card(d)
			if to := leaf % max(c.t.cfg.NICs, 1); c.t.cfg.Fabric == Rails && c.t.node.owner(c.t.local(d), to) != none {
				card = to
			}
			if from := c.t.leaf(g.node, card); from != leaf {
				acc.add([]LinkUse{{c.t.fabric.leaves[from].up, 1}, {ports.down, 1}}, share*float64(n))
			}
		}
	}
}
