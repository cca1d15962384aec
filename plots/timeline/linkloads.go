package timeline

import (
	"cmp"
	"slices"

	"trainsim/sim"
	"trainsim/sim/trace"
)

// shownLinks is how many links a figure has room for.
const shownLinks = 8

// Link is one counter with its mean load.
type Link struct {
	Counter  int
	Name     string
	Capacity float64 // bytes/s, or the largest rate seen when it is not known
	Mean     float64 // share of capacity
	Bytes    int64   // carried over the step, where no counter says more
}

// LinkLoads returns the links with any load, busiest first.
func LinkLoads(r *trace.Recording) []Link {
	end := float64(End(r))
	area := make([]float64, len(r.Counters))
	largest := make([]float64, len(r.Counters))
	from := make([]float64, len(r.Counters))
	now := make([]float64, len(r.Counters))
	slot := make([]int, len(r.Counters))
	for i, c := range r.Counters {
		slot[i] = -1
		if c.Kind == trace.LinkRate {
			slot[i] = i
		}
	}
	samplesOf(r, slot, func(at sim.Time, s int, change float64) {
		area[s] += now[s] * (float64(at) - from[s])
		from[s] = float64(at)
		now[s] += change
		largest[s] = max(largest[s], now[s])
	})
	var out []Link
	for i, c := range r.Counters {
		area[i] += now[i] * (end - from[i])
		if largest[i] <= 0 {
			continue
		}
		capacity := c.Limit
		if !(capacity > 0) {
			capacity = largest[i]
		}
		out = append(out, Link{Counter: i, Name: c.Name, Capacity: capacity, Mean: area[i] / end / capacity})
	}
	slices.SortStableFunc(out, func(a, b Link) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Busiest deals the links out by sort, busiest first, until the figure is full,
// and returns them busiest first. Links whose names differ in their digits only
// are of one sort.
func Busiest(loads []Link) []Link {
	var sorts []string
	bySort := map[string][]Link{}
	for _, l := range loads {
		s := sortOf(l.Name)
		if len(bySort[s]) == 0 {
			sorts = append(sorts, s)
		}
		bySort[s] = append(bySort[s], l)
	}
	var out []Link
	for round := 0; len(out) < min(shownLinks, len(loads)); round++ {
		for _, s := range sorts {
			if round < len(bySort[s]) && len(out) < shownLinks {
				out = append(out, bySort[s][round])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Link) int { return cmp.Compare(b.Mean, a.Mean) })
	return out
}

// sortOf drops the digits of a name.
func sortOf(name string) string {
	out := make([]rune, 0, len(name))
	for _, c := range name {
		if c < '0' || c > '9' {
			out = append(out, c)
		}
	}
	return string(out)
}
