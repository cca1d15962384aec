package interconnect

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
	s := Survey{Islands: t.Islands(0), Ring: c.rings[0].order}
	for i, a := range s.Ring {
		h := t.Hop(a, s.Ring[(i+1)%per])
		if per > 1 && (i == 0 || h.BytesPerSec < s.Bottleneck.BytesPerSec) {
			s.Bottleneck = h
		}
	}
	s.Groups, s.Joined = t.tensorGroups(all)
	return s, nil
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
