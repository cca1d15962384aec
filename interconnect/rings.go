package interconnect

import "fmt"

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

func permuted(devices, order []int) []int {
	out := make([]int, len(devices))
	for i, k := range order {
		out[i] = devices[k]
	}
	return out
}

// meshRings packs rings into a node's direct NVLinks, if they can close one.
func (c *Communicator) meshRings(g *group) bool {
	if switched(&c.t.cfg) || c.level < PathNVL || len(g.devices) < 2 {
		return false
	}
	c.bonds = make([][]int, len(g.devices))
	for i, a := range g.devices {
		c.bonds[i] = make([]int, len(g.devices))
		for j, b := range g.devices {
			c.bonds[i][j] = c.t.node.bonded[c.t.local(a)][c.t.local(b)]
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

// netRings makes one ring for each card: it enters every node at the card's
// own GPU and leaves through the same card, or through the card of the GPU at
// which it ends where NVLink does not join the node.
func (c *Communicator) netRings() {
	n := c.cards()
	memo := make(map[string]nodeChain)
	for r := range n {
		c.rings = append(c.rings, ring{share: 1 / float64(n), out: make(map[int]int), in: make(map[int]int)})
		ring := &c.rings[r]
		for i := range c.groups {
			g := &c.groups[i]
			ch := c.chain(g, r, memo)
			ring.order = append(ring.order, permuted(g.devices, ch.order)...)
			ring.in[g.node], ring.out[g.node] = ch.in, ch.out
		}
	}
}

// nodeChain is the way of one ring through one node.
type nodeChain struct {
	order   []int // indexes into the group's devices
	in, out int   // cards; none where the node has none
}

// chain returns ring r's way through a group. Nodes with the same devices get
// the same way.
func (c *Communicator) chain(g *group, r int, memo map[string]nodeChain) nodeChain {
	locals := make([]int, len(g.devices))
	for i, d := range g.devices {
		locals[i] = c.t.local(d)
	}
	key := fmt.Sprint(r, locals)
	ch, ok := memo[key]
	if !ok {
		ch = c.newChain(g, r)
		memo[key] = ch
	}
	return ch
}

func (c *Communicator) newChain(g *group, r int) nodeChain {
	if len(g.cards) == 0 {
		return nodeChain{order: c.hopCosts(g.devices).order(), in: none, out: none}
	}
	card := g.cards[r]
	start := 0
	for start < len(g.devices)-1 && c.card(g.devices[start]) != card {
		start++
	}
	if order := c.islandChain(g.devices, start); order != nil {
		return nodeChain{order: positions(g.devices, order), in: card, out: c.card(order[len(order)-1])}
	}
	rotated := make([]int, len(g.devices))
	for i := range rotated {
		rotated[i] = (start + i) % len(rotated)
	}
	devices := permuted(g.devices, rotated)
	costs := c.hopCosts(devices)
	if c.uniform(costs) && c.hopTypeOf(devices) <= PathNVB {
		return nodeChain{order: rotated, in: card, out: card}
	}
	for i, d := range devices {
		own := c.card(d)
		costs.end[i] = pathCost(c.cardPath(d, own), 0)
		for _, earlier := range c.rings[:r] {
			if earlier.out[g.node] == own {
				costs.end[i]++
			}
		}
	}
	order := costs.order()
	return nodeChain{order: permuted(rotated, order), in: card, out: c.card(devices[order[len(order)-1]])}
}

// positions returns where each device of an order stands in the list.
func positions(devices, order []int) []int {
	at := make(map[int]int, len(devices))
	for i, d := range devices {
		at[d] = i
	}
	out := make([]int, len(order))
	for i, d := range order {
		out[i] = at[d]
	}
	return out
}

// hopTypeOf is the class of the first hop, PathSelf for a single device.
func (c *Communicator) hopTypeOf(devices []int) PathType {
	if len(devices) < 2 {
		return PathSelf
	}
	return c.hopType(devices[0], devices[1])
}

// hop returns the links from one device of a ring to the next.
func (c *Communicator) hop(r *ring, a, b int) []LinkUse {
	na, nb := c.t.NodeOf(a), c.t.NodeOf(b)
	if na == nb {
		return c.t.route(a, b, c.level).uses
	}
	out, in := r.out[na], r.in[nb]
	return c.t.netHop(na, c.t.local(a), out, nb, c.t.local(b), in)
}
