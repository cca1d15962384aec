package interconnect

import "sort"

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
		node := c.t.NodeOf(d)
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
		if nic := c.card(d); nic != none && !seen[nic] {
			seen[nic] = true
			cards = append(cards, nic)
		}
	}
	sort.Ints(cards)
	return cards
}

// card returns the nearest card of a device.
func (c *Communicator) card(device int) int { return c.t.node.gpus[c.t.local(device)].nic }

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
func (c *Communicator) nicPath() PathType {
	worst := PathSelf
	if len(c.groups) == 1 {
		return worst
	}
	for _, d := range c.devices {
		worst = max(worst, c.cardPath(d, c.card(d)))
	}
	return worst
}

func (c *Communicator) cardPath(device, card int) PathType {
	return c.t.node.gpus[c.t.local(device)].pathType(c.t.node.nics[card].site)
}

// hopType is the class of the way between two devices of a node, as NCCL uses
// it: through host memory where peer-to-peer copies are not allowed.
func (c *Communicator) hopType(a, b int) PathType {
	kind := c.t.node.pathType(c.t.local(a), c.t.local(b))
	if kind > c.level {
		return max(kind, PathPHB)
	}
	return kind
}

// worstHop is the farthest hop of the rings inside nodes.
func (c *Communicator) worstHop() PathType {
	worst := PathSelf
	for _, r := range c.rings {
		for i, a := range r.order {
			b := r.order[(i+1)%len(r.order)]
			if a != b && c.t.NodeOf(a) == c.t.NodeOf(b) {
				worst = max(worst, c.hopType(a, b))
			}
		}
	}
	return worst
}
