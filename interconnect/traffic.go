package interconnect

import "sort"

// Traffic is what an operation puts on links, scaled so that the bottleneck's
// weight is 1.
type Traffic struct {
	Uses []LinkUse
	// Unit is the bytes on the bottleneck for one byte of the operation.
	Unit float64
	// Bottleneck is the link that carries most for its capacity; -1 without links.
	Bottleneck LinkID
}

// Traffic scales what one byte of an operation puts on links.
func (t *Topology) Traffic(uses []LinkUse) Traffic {
	tr := Traffic{Uses: uses, Unit: 1, Bottleneck: none}
	load := 0.0
	for _, u := range uses {
		if x := u.Weight / t.links[u.Link].Capacity; x > load {
			load, tr.Unit, tr.Bottleneck = x, u.Weight, u.Link
		}
	}
	if tr.Unit == 1 {
		return tr
	}
	tr.Uses = make([]LinkUse, len(uses))
	for i, u := range uses {
		tr.Uses[i] = LinkUse{u.Link, u.Weight / tr.Unit}
	}
	return tr
}

// Loads sums up what several routes put on links.
type Loads struct {
	weight  []float64
	touched []LinkID
}

// NewLoads returns empty sums.
func (t *Topology) NewLoads() *Loads {
	return &Loads{weight: make([]float64, len(t.links))}
}

// Add adds links, with factor times their weights.
func (a *Loads) Add(uses []LinkUse, factor float64) {
	for _, u := range uses {
		if a.weight[u.Link] == 0 {
			a.touched = append(a.touched, u.Link)
		}
		a.weight[u.Link] += float64(u.Weight * factor)
	}
}

// Uses returns the sums in the order of the links.
func (a *Loads) Uses() []LinkUse {
	sort.Slice(a.touched, func(i, j int) bool { return a.touched[i] < a.touched[j] })
	out := make([]LinkUse, len(a.touched))
	for i, l := range a.touched {
		out[i] = LinkUse{l, a.weight[l]}
	}
	return out
}
