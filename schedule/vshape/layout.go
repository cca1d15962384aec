package vshape

import "trainsim/schedule"

// layout is a V schedule on a grid of unit slots: slots[rank][pass][mb] is the
// slot of a pass of a micro-batch. Weight gradients, where they are laid out,
// follow as weights[rank][k], the k-th of either chunk.
type layout struct {
	m       int
	slots   [][passes][]int
	weights [][]int
}

// repeatPattern lays out a pattern of period 6: pattern returns the slots of
// micro-batch 0 on a rank.
func repeatPattern(p, m int, pattern func(rank int) [passes]int) *layout {
	l := &layout{m: m, slots: make([][passes][]int, p)}
	for r := range l.slots {
		for pass, first := range pattern(r) {
			l.slots[r][pass] = make([]int, m)
			for mb := range m {
				l.slots[r][pass][mb] = first + 6*mb
			}
		}
	}
	return l
}

// placed is one entry of a layout.
type placed struct {
	slot, rank int32
	kind       int32 // a pass, or passes for a weight gradient
	mb         int32
}

// ordered returns all entries by slot and rank. A rank has one in a slot at most,
// and those of a kind stand in the order of their micro-batches.
func (l *layout) ordered() []placed {
	rows := make([][]int8, len(l.slots))
	longest := 0
	for r := range rows {
		rows[r] = l.row(r)
		longest = max(longest, len(rows[r]))
	}
	count := make([][passes + 1]int32, len(rows))
	all := make([]placed, 0, 6*l.m*len(rows))
	for slot := range longest {
		for r, row := range rows {
			if slot >= len(row) || row[slot] < 0 {
				continue
			}
			n := &count[r][row[slot]]
			all = append(all, placed{int32(slot), int32(r), int32(row[slot]), *n})
			*n++
		}
	}
	return all
}

// row returns one rank's passes by slot, with the weight gradients that are laid
// out as passes, and -1 in empty slots.
func (l *layout) row(rank int) []int8 {
	row := l.rankPasses(rank)
	if l.weights == nil {
		return row
	}
	for _, slot := range l.weights[rank] {
		for len(row) <= slot {
			row = append(row, -1)
		}
		row[slot] = passes
	}
	return row
}

// last returns the last slot of a rank's passes.
func (l *layout) last(rank int) int {
	last := 0
	for _, list := range l.slots[rank] {
		last = max(last, list[l.m-1])
	}
	return last
}

// squeeze moves every entry to the earliest slot that the order of its rank
// and the passes it depends on allow, each taking one slot.
func (l *layout) squeeze() {
	free := make([]int, len(l.slots))
	for _, e := range l.ordered() {
		r := int(e.rank)
		at := free[r]
		if e.kind < passes {
			at = max(at, l.earliest(r, int(e.kind), int(e.mb)))
			l.slots[r][e.kind][e.mb] = at
		} else {
			l.weights[r][e.mb] = at
		}
		free[r] = at + 1
	}
}

// earliest returns the first slot after everything that a pass depends on.
func (l *layout) earliest(rank, pass, mb int) int {
	after := -1
	if from := passFrom(pass, rank); from >= 0 && from < len(l.slots) {
		after = max(after, l.slots[from][pass][mb])
	}
	if pass > 0 {
		after = max(after, l.slots[rank][pass-1][mb])
	}
	if mb > 0 {
		after = max(after, l.slots[rank][pass][mb-1])
	}
	return after + 1
}

// rankPasses returns one rank's passes by slot, nothing in empty slots (-1).
func (l *layout) rankPasses(rank int) []int8 {
	out := make([]int8, l.last(rank)+1)
	for i := range out {
		out[i] = -1
	}
	for pass, list := range l.slots[rank] {
		for _, slot := range list {
			out[slot] = int8(pass)
		}
	}
	return out
}

// fillWeights lays weight gradients into the empty slots of each rank, oldest
// first, and those that are left after its last pass.
func (l *layout) fillWeights() {
	l.weights = make([][]int, len(l.slots))
	for r := range l.slots {
		pending := 0
		grid := l.rankPasses(r)
		list := make([]int, 0, 2*l.m)
		for slot, pass := range grid {
			switch {
			case pass >= passBackDown:
				pending++
			case pass < 0 && pending > 0:
				pending--
				list = append(list, slot)
			}
		}
		for i := range pending {
			list = append(list, len(grid)+i)
		}
		l.weights[r] = list
	}
}

// lists returns the order of each rank with its weight gradients: those of
// chunk 1 first where both chunks have some due.
func (l *layout) lists() [][]schedule.Action {
	out := make([][]schedule.Action, len(l.slots))
	for r := range l.slots {
		var next [passes]int
		var due, done [2]int
		list := make([]schedule.Action, 0, 6*l.m)
		weight := func(chunk int) {
			list = append(list, schedule.BackwardWeight.At(done[chunk], chunk))
			done[chunk]++
			due[chunk]--
		}
		for _, pass := range l.rankPasses(r) {
			switch {
			case pass >= 0:
				a := passAction(int(pass), next[pass])
				next[pass]++
				list = append(list, a)
				if a.Op == schedule.BackwardInput {
					due[a.Chunk]++
				}
			case due[1] > 0:
				weight(1)
			case due[0] > 0:
				weight(0)
			}
		}
		for _, chunk := range []int{1, 0} {
			for due[chunk] > 0 {
				weight(chunk)
			}
		}
		out[r] = list
	}
	return out
}
