package schedule

import "fmt"

// maxAdaptiveRanks bounds the search over building blocks, whose candidates
// grow with the ranks and whose cost grows with the square of the schedule.
const maxAdaptiveRanks = 16

// buildVAdaptive searches building blocks on the V placement for the shortest
// schedule whose activations stay under a cap: each block is repeated,
// squeezed, and its warm-up and cool-down reordered.
func buildVAdaptive(k *Kind, o Options) (*Program, error) {
	if err := o.Costs.validate(2 * o.Ranks); err != nil {
		return nil, err
	}
	if o.Ranks < 2 || o.Ranks > maxAdaptiveRanks {
		return nil, countError(k.Name, "ranks", o.Ranks, fmt.Sprintf("between 2 and %d, as building blocks are searched", maxAdaptiveRanks),
			func(x int) bool { return x >= 2 && x <= maxAdaptiveRanks })
	}
	limit := o.MemoryCap
	if limit == 0 {
		limit = 2 * o.Ranks
	}
	var best *Program
	shortest := 0.0
	eachBlock(o.Ranks, func(block [][blockKinds]int) bool {
		g, peak := adaptBlock(o.Ranks, o.Microbatches, block, min(2*o.Ranks, limit))
		if peak > 2*o.Ranks || peak > limit {
			return false
		}
		if g == nil {
			return true
		}
		p := newProgram(k.Name, o, 2, Wave)
		p.Lists = g.splitLists(o.Microbatches)
		if span, ok := longestSpan(p, o.Costs); ok && (best == nil || span < shortest) {
			best, shortest = p, span
		}
		return true
	})
	if best == nil {
		return nil, fmt.Errorf("schedule %s: no building block for %d ranks and %d micro-batches keeps within %d chunk activations; raise the memory cap, at most %d are of use",
			k.Name, o.Ranks, o.Microbatches, limit, 2*o.Ranks)
	}
	return best, nil
}

// longestSpan returns the longest rank's span, the quantity that the search
// makes small.
func longestSpan(p *Program, costs Costs) (span float64, ok bool) {
	r, err := p.Execute(costs)
	if err != nil {
		return 0, false
	}
	for _, s := range r.Span {
		span = max(span, s)
	}
	return span, true
}

// eachBlock calls visit with every building block: the slots of rank 0, and
// two offsets from rank to rank, the first for some ranks and the second, no
// larger, for the rest. visit returns false to skip the larger numbers of
// ranks with the first offset.
func eachBlock(p int, visit func(block [][blockKinds]int) bool) {
	for code := range 125 {
		up, down, back := 1+code/25, 1+code/5%5, 1+code%5
		if up == down || up == back || down == back {
			continue
		}
		first := [blockKinds]int{0, up, down, back}
		fillBlock(&first)
		for offset := 1; offset <= 5; offset++ {
			for later := 1; later <= offset; later++ {
				for change := 1; change < p; change++ {
					block, ok := growBlock(first, offset, later, change, p)
					if ok && !visit(block) {
						break
					}
				}
			}
		}
	}
}

// fillBlock gives each weight gradient the first free slot after its input
// gradient.
func fillBlock(slots *[blockKinds]int) {
	var taken [6]bool
	for _, slot := range slots[:passes] {
		taken[slot] = true
	}
	for chunk, backward := range []int{passBackDown, passBackUp} {
		slot := slots[backward]
		for taken[slot] {
			slot = (slot + 1) % 6
		}
		taken[slot] = true
		slots[blockWeight+chunk] = slot
	}
}

// growBlock continues rank 0's slots over p ranks: passes down the ranks come
// offset slots later on each of the first change ranks, later slots on the
// rest; passes up come one slot earlier. ok is false where two collide.
func growBlock(first [blockKinds]int, offset, later, change, p int) (block [][blockKinds]int, ok bool) {
	block = make([][blockKinds]int, p)
	block[0] = first
	for r := 1; r < p; r++ {
		step := offset
		if r > change {
			step = later
		}
		var taken [6]bool
		for pass := range passes {
			slot := block[r-1][pass] + 5 // one earlier, modulo 6
			if pass%2 == 0 {
				slot = block[r-1][pass] + step
			}
			slot %= 6
			if taken[slot] {
				return nil, false
			}
			taken[slot] = true
			block[r][pass] = slot
		}
		fillBlock(&block[r])
	}
	return block, true
}

// adaptBlock turns a building block into a schedule of m micro-batches. The
// grid is nil if the block does not lead to one; peak is the most live
// activations, of the block where it is refused for that.
func adaptBlock(p, m int, block [][blockKinds]int, limit int) (*blockGrid, int) {
	padded := max(m, 2*p) // warm-up is only regular with enough micro-batches
	g := newBlockGrid(p, padded, block)
	first := g.limit
	if m == padded && first > limit || first > 2*p {
		return nil, first
	}
	if !g.squeeze(padded) || !g.warmUp(padded) || !g.squeeze(padded) || g.peak() > first {
		return nil, first
	}
	if m < padded {
		peak := g.peak()
		g.dropAbove(m)
		if m <= p && 2*m <= limit {
			g.delayWeights(min(2*p, peak))
		}
		if !g.squeeze(m) {
			return nil, first
		}
		first = g.peak()
		if first > limit {
			return nil, first
		}
	}
	if !g.coolDown(m) {
		return nil, first
	}
	g.fillGaps(m)
	g.relabelWeights()
	if g.peak() > first || !g.complete(m) {
		return nil, g.peakAtMost(first)
	}
	return g, g.peak()
}
