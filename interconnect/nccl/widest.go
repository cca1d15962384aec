package nccl

import (
	"slices"

	"trainsim/interconnect"
)

// Hop is one way between two devices of a node.
type Hop struct {
	From, To    int
	Cell        interconnect.Cell
	BytesPerSec float64 // what one copy reaches alone
}

// avoided is the cost of a hop that is to be avoided: above that of any tour
// without such hops.
const avoided = int64(1) << 50

// WidestRing returns the order of a node's devices whose slowest hop is the
// fastest found: one of NCCL's rings, which use all links together and single
// ones as they come, or one that keeps off slow hops.
func (c *shape) WidestRing() (order []int, slowest Hop) {
	for _, r := range c.rings {
		devices := r.parts[0].devices
		if h := c.slowestHop(devices); order == nil || h.BytesPerSec > slowest.BytesPerSec {
			order, slowest = devices, h
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
func (c *shape) slowestHop(order []int) (slowest Hop) {
	for i, a := range order {
		h := c.hopBetween(a, order[(i+1)%len(order)])
		if len(order) > 1 && (i == 0 || h.BytesPerSec < slowest.BytesPerSec) {
			slowest = h
		}
	}
	return slowest
}

// hopRates returns the rates of the hops between the devices, each once, the
// fastest first.
func (c *shape) hopRates() []float64 {
	var rates []float64
	for i, a := range c.devices {
		for _, b := range c.devices[:i] {
			rates = append(rates, c.hopBetween(a, b).BytesPerSec, c.hopBetween(b, a).BytesPerSec)
		}
	}
	slices.Sort(rates)
	slices.Reverse(rates)
	return slices.Compact(rates)
}

// costsAbove returns the costs of a tour that keeps off hops below a rate.
func (c *shape) costsAbove(rate float64) tourCosts {
	t := c.hopCosts(c.devices)
	for i, a := range c.devices {
		for j, b := range c.devices {
			if i != j && c.hopBetween(a, b).BytesPerSec < rate {
				t.hop[i][j] += avoided
			}
		}
	}
	for i := range t.end {
		t.end[i] = t.hop[i][0]
	}
	return t
}

// hopBetween returns the way between two devices of one node as NCCL uses it.
func (c *shape) hopBetween(a, b int) Hop {
	h := Hop{From: a, To: b, Cell: interconnect.Cell{Type: c.t.PathType(a, b)}}
	if h.Cell.Type == interconnect.PathNVL {
		h.Cell.Links = c.t.NVLinks(a, b)
	}
	for i, u := range c.t.Route(a, b, c.lib.p2pLevel(c.t.PerDomain())).Uses {
		if x := c.t.Capacity(u.Link) / u.Weight; i == 0 || x < h.BytesPerSec {
			h.BytesPerSec = x
		}
	}
	return h
}
