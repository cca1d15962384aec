package nccl

import "trainsim/interconnect"

// ring is one directed cycle over the devices of a communicator. Where it goes
// from node to node, it leaves through the card that out names for the node
// that it leaves, and enters through in of the next.
type ring struct {
	order   []int
	share   float64 // part of the bytes that it carries
	out, in map[int]int
}

// searchRings finds the rings of a communicator.
func (c *Communicator) searchRings() {
	if len(c.groups) > 1 {
		c.netRings()
		return
	}
	g := &c.groups[0]
	if c.meshRings(g) || c.islandRings(g) {
		return
	}
	costs := c.hopCosts(g.devices)
	if !c.uniform(costs) {
		g.devices = permuted(g.devices, costs.order())
	}
	c.rings = []ring{{order: g.devices, share: 1}}
}

// uniform says whether all hops cost the same, so that any order is as good.
func (c *Communicator) uniform(t tourCosts) bool {
	for i := range t.hop {
		for j := range t.hop {
			if i != j && t.hop[i][j] != t.hop[0][1] {
				return false
			}
		}
	}
	return true
}

// permuted returns devices in an order of their indexes.
func permuted(devices, order []int) []int {
	out := make([]int, len(devices))
	for i, k := range order {
		out[i] = devices[k]
	}
	return out
}

// meshRings packs rings into a node's direct NVLinks, if they can close one.
func (c *Communicator) meshRings(g *group) bool {
	if c.t.Switched() || c.level < interconnect.PathNVL || len(g.devices) < 2 {
		return false
	}
	c.bonds = make([][]int, len(g.devices))
	for i, a := range g.devices {
		c.bonds[i] = make([]int, len(g.devices))
		for j, b := range g.devices {
			c.bonds[i][j] = c.t.NVLinks(a, b)
		}
	}
	c.cycles = packCycles(roomFor(c.bonds, 1))
	for i, cycle := range c.cycles {
		if i > 0 && equal(cycle, c.cycles[i-1]) {
			c.rings[len(c.rings)-1].share += 1 / float64(len(c.cycles))
			continue
		}
		c.rings = append(c.rings, ring{order: permuted(g.devices, cycle), share: 1 / float64(len(c.cycles))})
	}
	return len(c.cycles) > 0
}

// roomFor returns how many rings of a number of NVLinks each fit on each pair.
func roomFor(bonds [][]int, links float64) [][]int {
	room := make([][]int, len(bonds))
	for i := range bonds {
		room[i] = make([]int, len(bonds))
		for j := range bonds {
			room[i][j] = int(float64(bonds[i][j])/links + 1e-9)
		}
	}
	return room
}

func equal(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// hop returns the links from one device of a ring to the next.
func (c *Communicator) hop(r *ring, a, b int) []interconnect.LinkUse {
	na, nb := c.t.DomainOf(a), c.t.DomainOf(b)
	if na == nb {
		return c.t.Route(a, b, c.level).Uses
	}
	return c.t.RouteOver(a, r.out[na], b, r.in[nb])
}
