package vshape

import "trainsim/schedule"

// blockGrid lays all ranks' slots out; kind is -1 in an empty slot.
type blockGrid struct {
	kind  [][]int8
	live  [][]int             // live activations after each slot
	limit int                 // most of them
	at    [][blockKinds][]int // slot of each micro-batch that is final
}

// newBlockGrid finds micro-batch 0's slots, each in the first place of the
// pattern after the pass before it, and repeats them every 6 slots.
func newBlockGrid(p, m int, pattern [][blockKinds]int) *blockGrid {
	g := &blockGrid{kind: make([][]int8, p), live: make([][]int, p), at: make([][blockKinds][]int, p)}
	length := 6 * (4*p + m + 1)
	for r := range p {
		g.kind[r] = make([]int8, length)
		for i := range g.kind[r] {
			g.kind[r][i] = -1
		}
	}
	now := 6
	for pass := range passes {
		for i := range p {
			r := i
			if pass%2 == 1 {
				r = p - 1 - i
			}
			now = next(now, pattern[r][pass])
			g.repeat(r, pass, now, m)
			now++
			if weight := passes + pass - passBackDown; weight >= passes {
				g.repeat(r, weight, next(now, pattern[r][weight]), m)
			}
		}
	}
	g.countLive()
	return g
}

// next returns the first slot from at on that is slot modulo 6.
func next(at, slot int) int { return at + ((slot-at)%6+6)%6 }

func (g *blockGrid) repeat(r, kind, first, m int) {
	for mb := range m {
		g.kind[r][first+6*mb] = int8(kind)
	}
}

func (g *blockGrid) countLive() {
	for r, row := range g.kind {
		g.live[r] = make([]int, len(row))
		live := 0
		for i, kind := range row {
			switch kind {
			case passDown, passUp:
				live++
			case blockWeight, blockWeightUp:
				live--
			}
			g.live[r][i] = live
			g.limit = max(g.limit, live)
		}
	}
}

// blockWeight and blockWeightUp follow the passes of a V as kinds of a block
// grid: the second slot of the fused backward of chunk 1 and of chunk 0.
const (
	blockWeight = passes + iota
	blockWeightUp
	blockKinds
)

// blank is an empty slot of a blockGrid.
const blank int8 = -1

func isForward(kind int8) bool { return kind == passDown || kind == passUp }

func isWeight(kind int8) bool { return kind >= passes }

// countPeak returns the most live activations of a row.
func countPeak(row []int8) int {
	live, peak := 0, 0
	for _, kind := range row {
		switch {
		case isForward(kind):
			live++
		case isWeight(kind):
			live--
		}
		peak = max(peak, live)
	}
	return peak
}

func (g *blockGrid) peak() int {
	peak := 0
	for _, row := range g.kind {
		peak = max(peak, countPeak(row))
	}
	return peak
}

// complete reports whether every row holds each kind m times.
func (g *blockGrid) complete(m int) bool {
	for _, row := range g.kind {
		var count [blockKinds]int
		for _, kind := range row {
			if kind >= 0 {
				count[kind]++
			}
		}
		for _, n := range count {
			if n != m {
				return false
			}
		}
	}
	return true
}

// splitLists returns each rank's order with split backwards.
func (g *blockGrid) splitLists(m int) [][]schedule.Action {
	out := make([][]schedule.Action, len(g.kind))
	for r, row := range g.kind {
		var count [blockKinds]int
		list := make([]schedule.Action, 0, 6*m)
		for _, kind := range row {
			if kind < 0 {
				continue
			}
			if kind < passes {
				list = append(list, passAction(int(kind), count[kind]))
			} else {
				list = append(list, schedule.BackwardWeight.At(count[kind], 1-int(kind-blockWeight)))
			}
			count[kind]++
		}
		out[r] = list
	}
	return out
}
