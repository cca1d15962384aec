package nccl

import (
	"math"

	"trainsim/interconnect"
)

// exactOrder is the largest number of devices for which the best order is
// found by dynamic programming over subsets.
const exactOrder = 12

// tieCost is below every difference between hops; it breaks ties.
const tieCost = 64

// pathCost ranks paths so that one farther hop outweighs any number of nearer
// ones, and more NVLinks are better than fewer.
func pathCost(kind interconnect.PathType, links int) int64 {
	if kind <= interconnect.PathNVL {
		return tieCost * int64(2*interconnect.MaxNVLinks-links)
	}
	cost := int64(tieCost)
	for range kind - 1 {
		cost *= 64
	}
	return cost
}

// tourCosts is a problem of visiting all devices once, from the first.
type tourCosts struct {
	hop [][]int64
	end []int64 // of stopping at a device
}

// hopCosts returns the costs between devices of one node. The tour closes.
func (c *shape) hopCosts(devices []int) tourCosts {
	n := len(devices)
	t := tourCosts{hop: make([][]int64, n), end: make([]int64, n)}
	for i := range devices {
		t.hop[i] = make([]int64, n)
		for j := range devices {
			if i != j {
				a, b := devices[i], devices[j]
				t.hop[i][j] = pathCost(c.hopType(a, b), c.t.NVLinks(a, b))
			}
		}
	}
	for i := range devices {
		t.end[i] = t.hop[i][0]
	}
	return t
}

// order returns the cheapest order found, starting with 0.
func (t tourCosts) order() []int {
	switch n := len(t.hop); {
	case n < 3:
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		return order
	case n <= exactOrder:
		return t.exact()
	}
	return t.improved()
}

// exact solves the problem by dynamic programming over subsets (Held and
// Karp): togo is the cost of what remains when set has been visited and the
// tour stands at a device. Of equal orders it returns the first.
func (t tourCosts) exact() []int {
	n := len(t.hop)
	full := 1<<n - 1
	togo := make([]int64, (full+1)*n)
	copy(togo[full*n:], t.end)
	for set := full - 2; set > 0; set -= 2 {
		for at := range n {
			if set>>at&1 != 0 {
				togo[set*n+at], _ = t.next(togo, set, at)
			}
		}
	}
	order := []int{0}
	for set, at := 1, 0; set != full; set |= 1 << at {
		_, at = t.next(togo, set, at)
		order = append(order, at)
	}
	return order
}

// next returns the cheapest continuation and its first device.
func (t tourCosts) next(togo []int64, set, at int) (cost int64, device int) {
	n := len(t.hop)
	cost = math.MaxInt64
	for next := 1; next < n; next++ {
		if set>>next&1 != 0 {
			continue
		}
		if x := t.hop[at][next] + togo[(set|1<<next)*n+next]; x < cost {
			cost, device = x, next
		}
	}
	return cost, device
}

// improved starts from the nearest neighbour's order and exchanges pairs of
// hops until nothing gets cheaper.
func (t tourCosts) improved() []int {
	order := t.nearest()
	n := len(order)
	for better := true; better; {
		better = false
		for i := 0; i < n-1; i++ {
			for j := i + 2; j < n-1; j++ {
				a, b, c, d := order[i], order[i+1], order[j], order[j+1]
				if t.hop[a][c]+t.hop[b][d] < t.hop[a][b]+t.hop[c][d] {
					for x, y := i+1, j; x < y; x, y = x+1, y-1 {
						order[x], order[y] = order[y], order[x]
					}
					better = true
				}
			}
		}
	}
	return order
}

func (t tourCosts) nearest() []int {
	n := len(t.hop)
	used := make([]bool, n)
	order := []int{0}
	used[0] = true
	for len(order) < n {
		last, next := order[len(order)-1], none
		for j := range n {
			if !used[j] && (next == none || t.hop[last][j] < t.hop[last][next]) {
				next = j
			}
		}
		used[next] = true
		order = append(order, next)
	}
	return order
}
