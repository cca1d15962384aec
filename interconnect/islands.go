package interconnect

// Islands returns the groups of devices of one node that NVLink joins, each in
// order; a device without NVLink is an island of its own.
func (t *Topology) Islands(node int) [][]int {
	per := len(t.node.visible)
	devices := make([]int, per)
	for i := range devices {
		devices[i] = node*per + i
	}
	return t.islandsOf(devices)
}

// islandsOf groups devices of one node that NVLink joins, directly or through
// others.
func (t *Topology) islandsOf(devices []int) [][]int {
	island := make([]int, len(devices))
	var out [][]int
	for i := range devices {
		if island[i] != 0 {
			continue
		}
		members := []int{i}
		island[i] = len(out) + 1
		for next := 0; next < len(members); next++ {
			for j := range devices {
				if island[j] == 0 && t.node.bonded[t.local(devices[members[next]])][t.local(devices[j])] > 0 {
					island[j] = island[i]
					members = append(members, j)
				}
			}
		}
		var group []int
		for j := range devices {
			if island[j] == island[i] {
				group = append(group, devices[j])
			}
		}
		out = append(out, group)
	}
	return out
}

// evenIslands returns the islands of a node's devices when there are at least
// two, all of one size above 1, and each a full mesh; else nil.
func (c *Communicator) evenIslands(devices []int) [][]int {
	if switched(&c.t.cfg) || c.level < PathNVL {
		return nil
	}
	islands := c.t.islandsOf(devices)
	if len(islands) < 2 || len(islands[0]) < 2 {
		return nil
	}
	for _, members := range islands {
		if len(members) != len(islands[0]) || !c.meshed(members) {
			return nil
		}
	}
	return islands
}

func (c *Communicator) meshed(devices []int) bool {
	for _, a := range devices {
		for _, b := range devices {
			if a != b && c.t.node.bonded[c.t.local(a)][c.t.local(b)] == 0 {
				return false
			}
		}
	}
	return true
}

// islandOrder is the way of ring r through islands: each is entered at its r-th
// device and left at the one before, so that every device's PCIe link carries
// one ring in and one ring out.
func islandOrder(islands [][]int, first, r int) []int {
	var order []int
	for i := range islands {
		members := islands[(first+i)%len(islands)]
		for j := range members {
			order = append(order, members[(r+j)%len(members)])
		}
	}
	return order
}

// islandRings makes as many rings over a node's islands as each has devices.
func (c *Communicator) islandRings(g *group) bool {
	islands := c.evenIslands(g.devices)
	if islands == nil {
		return false
	}
	heads := make([]int, len(islands))
	for i := range islands {
		heads[i] = islands[i][0]
	}
	sorted := make([][]int, len(islands))
	for i, k := range c.hopCosts(heads).order() {
		sorted[i] = islands[k]
	}
	size := len(islands[0])
	for r := range size {
		c.rings = append(c.rings, ring{order: islandOrder(sorted, 0, r), share: 1 / float64(size)})
	}
	return true
}

// islandChain is a ring's way through a node of islands from the device at
// which it enters; nil where there are none.
func (c *Communicator) islandChain(devices []int, start int) []int {
	islands := c.evenIslands(devices)
	for i, members := range islands {
		for r, d := range members {
			if d == devices[start] {
				return islandOrder(islands, i, r)
			}
		}
	}
	return nil
}
