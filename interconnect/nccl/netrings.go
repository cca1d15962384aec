package nccl

import (
	"fmt"

	"trainsim/interconnect"
)

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
		locals[i] = d % c.t.PerDomain()
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
	for start < len(g.devices)-1 && c.t.Card(g.devices[start]) != card {
		start++
	}
	if order := c.islandChain(g.devices, start); order != nil {
		return nodeChain{order: positions(g.devices, order), in: card, out: c.t.Card(order[len(order)-1])}
	}
	rotated := make([]int, len(g.devices))
	for i := range rotated {
		rotated[i] = (start + i) % len(rotated)
	}
	devices := permuted(g.devices, rotated)
	costs := c.hopCosts(devices)
	if c.uniform(costs) && c.hopTypeOf(devices) <= interconnect.PathNVB {
		return nodeChain{order: rotated, in: card, out: card}
	}
	for i, d := range devices {
		own := c.t.Card(d)
		costs.end[i] = pathCost(c.t.CardPath(d, own), 0)
		for _, earlier := range c.rings[:r] {
			if earlier.out[g.node] == own {
				costs.end[i]++
			}
		}
	}
	order := costs.order()
	return nodeChain{order: permuted(rotated, order), in: card, out: c.t.Card(devices[order[len(order)-1]])}
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

// hopTypeOf is the class of the first hop, interconnect.PathSelf for a single device.
func (c *Communicator) hopTypeOf(devices []int) interconnect.PathType {
	if len(devices) < 2 {
		return interconnect.PathSelf
	}
	return c.hopType(devices[0], devices[1])
}
