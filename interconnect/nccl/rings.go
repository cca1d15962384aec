package nccl

import (
	"slices"

	"trainsim/interconnect"
)

// ring is one directed cycle over the devices of a communicator, node by node.
type ring struct {
	share float64 // part of the bytes that it carries
	parts []part
}

// part is a ring's way through one node.
type part struct {
	domain int
	*chain
}

// chain is a way through a node: from a card to its first device, on to the others
// and out through a card. On a single node it closes instead. Nodes with the same
// devices share it.
type chain struct {
	devices []int // of the first node that has it, in order
	in, out int   // cards; none where the node has none, or is the only one
	// hops are from each device to the next, on a single node also from the last
	// to the first.
	hops         []hop
	enter, leave hop                   // between the wire and the first or the last device
	worst        interconnect.PathType // farthest hop
}

// newChain makes the way over devices of one domain through the cards given;
// without cards it closes.
func (c *shape) newChain(devices []int, in, out int) *chain {
	ch := &chain{devices: devices, in: in, out: out}
	domain := c.t.DomainOf(devices[0])
	several := len(c.groups) > 1
	for i, a := range devices {
		if several && i == len(devices)-1 {
			break
		}
		b := devices[(i+1)%len(devices)]
		ch.hops = append(ch.hops, c.hopOf(domain, c.t.Route(a, b, c.level).Uses))
		if a != b {
			ch.worst = max(ch.worst, c.hopType(a, b))
		}
	}
	if several && in != none {
		ch.enter = c.hopOf(domain, c.t.Ingress(devices[0], in))
		ch.leave = c.hopOf(domain, c.t.Egress(devices[len(devices)-1], out))
	}
	return ch
}

// closed is a ring over devices of a single node.
func (c *shape) closed(devices []int, share float64) ring {
	ch := c.newChain(devices, none, none)
	return ring{share: share, parts: []part{{c.groups[0].domain, ch}}}
}

// worstHop is the farthest hop of the rings inside nodes.
func (c *shape) worstHop() interconnect.PathType {
	worst := interconnect.PathSelf
	for _, r := range c.rings {
		for _, p := range r.parts {
			worst = max(worst, p.worst)
		}
	}
	return worst
}

// searchRings finds the rings of a communicator.
func (c *shape) searchRings() {
	if len(c.groups) > 1 {
		c.netRings()
		return
	}
	f := c.groups[0].footprint
	devices := c.members(f)
	if c.meshRings(devices) || c.islandRings(devices) {
		return
	}
	costs := c.hopCosts(devices)
	if !c.uniform(costs) {
		order := costs.order()
		f.places = permuted(f.places, order)
		devices = permuted(devices, order)
	}
	c.rings = []ring{c.closed(devices, 1)}
}

// uniform says whether all hops cost the same, so that any order is as good.
func (c *shape) uniform(t tourCosts) bool {
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
func (c *shape) meshRings(devices []int) bool {
	if c.t.Switched() || c.level < interconnect.PathNVL || len(devices) < 2 {
		return false
	}
	c.bonds = make([][]int, len(devices))
	for i, a := range devices {
		c.bonds[i] = make([]int, len(devices))
		for j, b := range devices {
			c.bonds[i][j] = c.t.NVLinks(a, b)
		}
	}
	c.cycles = packCycles(roomFor(c.bonds, 1))
	share := 1 / float64(len(c.cycles))
	for i, cycle := range c.cycles {
		if i > 0 && slices.Equal(cycle, c.cycles[i-1]) {
			c.rings[len(c.rings)-1].share += share
			continue
		}
		c.rings = append(c.rings, c.closed(permuted(devices, cycle), share))
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
