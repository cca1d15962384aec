package interconnect

import "slices"

// Traffic is what an operation puts on links, scaled so that the bottleneck's
// weight is 1.
type Traffic struct {
	Uses []LinkUse
	// Unit is the bytes on the bottleneck for one byte of the operation.
	Unit float64
	// Bottleneck is the link that carries most for its capacity; -1 without links.
	Bottleneck LinkID
}

// Traffic scales what one byte of an operation puts on links, in place.
func (t *Topology) Traffic(uses []LinkUse) Traffic {
	tr := Traffic{Uses: uses, Unit: 1, Bottleneck: none}
	load := 0.0
	for _, u := range uses {
		if x := u.Weight / t.Capacity(u.Link); x > load {
			load, tr.Unit, tr.Bottleneck = x, u.Weight, u.Link
		}
	}
	if tr.Unit != 1 {
		for i := range uses {
			uses[i].Weight /= tr.Unit
		}
	}
	return tr
}

// Loads sums up what several routes put on links.
type Loads struct {
	weight  []float64 // by link
	touched []LinkID
}

// NewLoads returns empty sums.
func (t *Topology) NewLoads() *Loads {
	return &Loads{weight: make([]float64, t.Links())}
}

// Add adds links that are numbered from base, with factor times their weights.
func (a *Loads) Add(base LinkID, uses []LinkUse, factor float64) {
	for _, u := range uses {
		l := base + u.Link
		if a.weight[l] == 0 {
			a.touched = append(a.touched, l)
		}
		a.weight[l] += float64(u.Weight * factor)
	}
}

// Take returns the sums in the order of the links and leaves the loads empty.
func (a *Loads) Take() []LinkUse {
	slices.Sort(a.touched)
	out := make([]LinkUse, len(a.touched))
	for i, l := range a.touched {
		out[i] = LinkUse{l, a.weight[l]}
		a.weight[l] = 0
	}
	a.touched = a.touched[:0]
	return out
}
