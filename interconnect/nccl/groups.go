package nccl

import (
	"sort"

	"trainsim/interconnect"
)

// none marks an absent card, device or link.
const none = -1

// group is the part of a communicator that is in one node.
type group struct {
	node    int
	devices []int // in ring order
	cards   []int // nearest network cards of its devices, in order
}

// makeGroups splits the devices by node, nodes in order.
func (c *Communicator) makeGroups() {
	sorted := append([]int(nil), c.devices...)
	sort.Ints(sorted)
	for _, d := range sorted {
		node := c.t.DomainOf(d)
		if len(c.groups) == 0 || c.groups[len(c.groups)-1].node != node {
			c.groups = append(c.groups, group{node: node})
		}
		g := &c.groups[len(c.groups)-1]
		g.devices = append(g.devices, d)
	}
	c.smallest = len(c.devices)
	for i := range c.groups {
		g := &c.groups[i]
		c.largest, c.smallest = max(c.largest, len(g.devices)), min(c.smallest, len(g.devices))
		g.cards = c.cardsOf(g.devices)
	}
}

// cardsOf returns the distinct nearest cards of devices, in order.
func (c *Communicator) cardsOf(devices []int) []int {
	var cards []int
	seen := make(map[int]bool)
	for _, d := range devices {
		if nic := c.t.Card(d); nic != none && !seen[nic] {
			seen[nic] = true
			cards = append(cards, nic)
		}
	}
	sort.Ints(cards)
	return cards
}

// cards is the number of rings that can leave every node through a card of
// their own.
func (c *Communicator) cards() int {
	n := len(c.groups[0].cards)
	for _, g := range c.groups {
		n = min(n, len(g.cards))
	}
	return max(n, 1)
}

// nicPath is the farthest way from a device to its card.
func (c *Communicator) nicPath() interconnect.PathType {
	worst := interconnect.PathSelf
	if len(c.groups) == 1 {
		return worst
	}
	for _, d := range c.devices {
		worst = max(worst, c.t.CardPath(d, c.t.Card(d)))
	}
	return worst
}

// severalTrays says whether devices are in several machines of their domains.
func (c *Communicator) severalTrays(devices []int) bool {
	for _, d := range devices {
		if c.t.TrayOf(d) != c.t.TrayOf(devices[0]) {
			return true
		}
	}
	return false
}

// hopType is the class of the way between two devices of a node, as NCCL uses
// it: through host memory where peer-to-peer copies are not allowed.
func (c *Communicator) hopType(a, b int) interconnect.PathType {
	kind := c.t.PathType(a, b)
	if kind > c.level {
		return max(kind, interconnect.PathPHB)
	}
	return kind
}

// worstHop is the farthest hop of the rings inside nodes.
func (c *Communicator) worstHop() interconnect.PathType {
	worst := interconnect.PathSelf
	for _, r := range c.rings {
		for i, a := range r.order {
			b := r.order[(i+1)%len(r.order)]
			if a != b && c.t.DomainOf(a) == c.t.DomainOf(b) {
				worst = max(worst, c.hopType(a, b))
			}
		}
	}
	return worst
}
