package nccl

import (
	"slices"

	"trainsim/interconnect"
)

// netRings makes one ring for each card: it enters every node at the card's
// own GPU and leaves through the same card, or through the card of the GPU at
// which it ends where NVLink does not join the node.
func (c *shape) netRings() {
	n := c.cards()
	c.rings = make([]ring, n)
	for r := range c.rings {
		parts := make([]part, len(c.groups))
		for i, g := range c.groups {
			if len(g.chains) == r {
				g.chains = append(g.chains, c.netChain(g.footprint, r))
			}
			parts[i] = part{g.domain, g.chains[r]}
		}
		c.rings[r] = ring{share: 1 / float64(n), parts: parts}
	}
}

// netChain is the way of ring r over several nodes through a node.
func (c *shape) netChain(f *footprint, r int) *chain {
	devices := c.members(f)
	if len(f.cards) == 0 {
		return c.newChain(permuted(devices, c.hopCosts(devices).order()), none, none)
	}
	card := f.cards[r]
	start := 0
	for start < len(devices)-1 && c.t.Card(devices[start]) != card {
		start++
	}
	if order := c.islandChain(devices, start); order != nil {
		return c.newChain(order, card, c.t.Card(order[len(order)-1]))
	}
	devices = slices.Concat(devices[start:], devices[:start])
	costs := c.hopCosts(devices)
	if c.uniform(costs) && c.hopTypeOf(devices) <= interconnect.PathNVB {
		return c.newChain(devices, card, card)
	}
	for i, d := range devices {
		own := c.t.Card(d)
		costs.end[i] = pathCost(c.t.CardPath(d, own), 0)
		for _, earlier := range f.chains {
			if earlier.out == own {
				costs.end[i]++
			}
		}
	}
	devices = permuted(devices, costs.order())
	return c.newChain(devices, card, c.t.Card(devices[len(devices)-1]))
}

// hopTypeOf is the class of the first hop, PathSelf for a single device.
func (c *shape) hopTypeOf(devices []int) interconnect.PathType {
	if len(devices) < 2 {
		return interconnect.PathSelf
	}
	return c.hopType(devices[0], devices[1])
}
