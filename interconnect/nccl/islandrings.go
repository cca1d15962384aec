package nccl

import "trainsim/interconnect"

// evenIslands returns the islands of a node's devices when there are at least
// two, all of one size above 1, and each a full mesh; else nil.
func (c *shape) evenIslands(devices []int) [][]int {
	if c.t.Switched() || c.level < interconnect.PathNVL {
		return nil
	}
	islands := c.t.Islands(devices)
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

func (c *shape) meshed(devices []int) bool {
	for _, a := range devices {
		for _, b := range devices {
			if a != b && c.t.NVLinks(a, b) == 0 {
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
func (c *shape) islandRings(devices []int) bool {
	islands := c.evenIslands(devices)
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
		c.rings = append(c.rings, c.closed(islandOrder(sorted, 0, r), 1/float64(size)))
	}
	return true
}

// islandChain is a ring's way through a node of islands from the device at
// which it enters; nil where there are none.
func (c *shape) islandChain(devices []int, start int) []int {
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
