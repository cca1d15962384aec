package interconnect

import "slices"

// Survey is what a node's topology means for placing work.
type Survey struct {
	// Islands are the groups of devices that NVLink joins.
	Islands [][]int
	// Ring is the best order found of a ring over all devices.
	Ring []int
	// Bottleneck is the slowest hop of that ring.
	Bottleneck Hop
	// Groups are the devices that belong together in one tensor-parallel
	// group, and Joined is the farthest path inside one.
	Groups [][]int
	Joined PathType
}

// Hop is one way between two devices of a node.
type Hop struct {
	From, To    int
	Cell        Cell
	BytesPerSec float64 // what one copy reaches alone
}

// Survey looks at the first node. A node of one device has a ring of one and
// no bottleneck.
func (t *Topology) Survey() (Survey, error) {
	per := len(t.node.visible)
	all := make([]int, per)
	for i := range all {
		all[i] = i
	}
	c, err := t.Communicator(all, Settings{})
	if err != nil {
		return Survey{}, err
	}
	s := Survey{Islands: t.Islands(0)}
	s.Ring, s.Bottleneck = c.widestRing()
	s.Groups, s.Joined = t.tensorGroups(all)
	return s, nil
}

// avoided is the cost of a hop that is to be avoided: above that of any tour
// without such hops.
const avoided = int64(1) << 50

// widestRing returns the order whose slowest hop is the fastest found: one of
// NCCL's rings, which use all links together and single ones as they come, or
// one that keeps off slow hops.
func (c *Communicator) widestRing() (order []int, slowest Hop) {
	for _, r := range c.rings {
		if h := c.slowestHop(r.order); order == nil || h.BytesPerSec > slowest.BytesPerSec {
			order, slowest = r.order, h
		}
	}
	for _, rate := range c.hopRates() {
		if rate <= slowest.BytesPerSec {
			break
		}
		try := permuted(c.devices, c.costsAbove(rate).order())
		if h := c.slowestHop(try); h.BytesPerSec > slowest.BytesPerSec {
			return try, h
		}
	}
	return order, slowest
}

// slowestHop returns the first of the slowest hops of a ring.
func (c *Communicator) slowestHop(order []int) (slowest Hop) {
	for i, a := range order {
		h := c.t.Hop(a, order[(i+1)%len(order)])
		if len(order) > 1 && (i == 0 || h.BytesPerSec < slowest.BytesPerSec) {
			slowest = h
		}
	}
	return slowest
}

// hopRates returns the rates of the hops between the devices, each once, the
// fastest first.
func (c *Communicator) hopRates() []float64 {
	var rates []float64
	for i, a := range c.devices {
		for _, b := range c.devices[:i] {
			rates = append(rates, c.t.Hop(a, b).BytesPerSec, c.t.Hop(b, a).BytesPerSec)
		}
	}
	slices.Sort(rates)
	slices.Reverse(rates)
	return slices.Compact(rates)
}

// costsAbove returns the costs of a tour that keeps off hops below a rate.
func (c *Communicator) costsAbove(rate float64) tourCosts {
	t := c.hopCosts(c.devices)
	for i, a := range c.devices {
		for j, b := range c.devices {
			if i != j && c.t.Hop(a, b).BytesPerSec < rate {
				t.hop[i][j] += avoided
			}
		}
	}
	for i := range t.end {
		t.end[i] = t.hop[i][0]
	}
	return t
}

// Hop returns the way between two devices of one node as NCCL uses it.
func (t *Topology) Hop(a, b int) Hop {
	h := Hop{From: a, To: b, Cell: Cell{Type: t.PathType(a, b)}}
	if h.Cell.Type == PathNVL {
		h.Cell.Links = t.node.bonded[t.local(a)][t.local(b)]
	}
	for i, u := range t.route(a, b, t.p2pLevel(Settings{}, len(t.node.visible))).uses {
		if x := t.links[u.Link].Capacity / u.Weight; i == 0 || x < h.BytesPerSec {
			h.BytesPerSec = x
		}
	}
	return h
}

// tensorGroups returns the nearest groups that have more than one device:
// NVLink islands, else what shares PCIe switches, a host bridge, a socket.
func (t *Topology) tensorGroups(devices []int) ([][]int, PathType) {
	for _, level := range []PathType{PathNVL, PathPIX, PathPXB, PathPHB, PathNODE} {
		groups := t.groupsWithin(devices, level)
		if len(groups[0]) > 1 {
			return groups, level
		}
	}
	return [][]int{devices}, PathSYS
}

// groupsWithin splits devices of one node into those that paths up to a level
// connect.
func (t *Topology) groupsWithin(devices []int, level PathType) [][]int {
	if level == PathNVL {
		return t.islandsOf(devices)
	}
	seen := make(map[int]bool)
	var groups [][]int
	for _, a := range devices {
		if seen[a] {
			continue
		}
		var group []int
		for _, b := range devices {
			if !seen[b] && t.PathType(a, b) <= level {
				seen[b] = true
				group = append(group, b)
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// NearestCard returns the network card of its node that a device uses, -1 on
// nodes without cards.
func (t *Topology) NearestCard(device int) int { return t.node.gpus[t.local(device)].nic }
