package vshape

import "trainsim/schedule"

// fillVControl builds V-Half and V-Min: a repeating pattern whose offsets
// bound the activations in flight, tightened at both ends.
func fillVControl(req *schedule.Request, p *schedule.Program) error {
	pattern := vMinPattern
	if req.Kind.Name == "v-half" {
		pattern = vHalfPattern
	}
	l := repeatPattern(req.Ranks, req.Microbatches, func(rank int) [passes]int { return pattern(req.Ranks, rank) })
	l.fillWeights()
	if err := tighten(req, l, true); err != nil {
		return err
	}
	l.squeeze()
	l.weights = nil
	if err := tighten(req, l, false); err != nil {
		return err
	}
	l.fillWeights()
	l.squeeze()
	p.Lists = l.lists()
	return nil
}

// vMinPattern leaves the least between a micro-batch's passes: a third of the
// activations of 1F1B.
func vMinPattern(p, r int) [passes]int {
	gap := 0
	if p%3 == 0 {
		gap = 2
	}
	return [passes]int{r, 2*p - 1 - r, 2*p + gap + r, 4*p + gap - 1 - r}
}

// vHalfPattern lets the passes down the ranks go at half speed: half of the
// activations of 1F1B.
func vHalfPattern(p, r int) [passes]int {
	gap := 0
	if p%2 == 0 {
		gap = 3
	}
	return [passes]int{2 * r, 3*p - 2 - r, 3*p + gap - 1 + 2*r, 6*p + gap - 2 - r}
}

// tightener moves the passes of warm-up and cool-down into earlier empty slots
// as long as no rank exceeds the peak memory of the repeating pattern.
type tightener struct {
	l        *layout
	explicit bool     // weight gradients are laid out and move too
	limit    int      // most live activations
	taken    [][]bool // by rank and slot: occupied by an entry that is final
	memory   []rankMemory
}

// tighten runs over the layout once: with the weight gradients laid out it
// tightens both ends, without them the cool-down alone.
func tighten(req *schedule.Request, l *layout, explicit bool) error {
	t := &tightener{l: l, explicit: explicit, taken: make([][]bool, len(l.slots)),
		memory: make([]rankMemory, len(l.slots))}
	for r := range l.slots {
		t.memory[r] = newRankMemory(l, r)
		t.limit = max(t.limit, t.memory[r].peak())
		t.taken[r] = make([]bool, len(t.memory[r].kind))
	}
	const warmUp, steady, coolDown = 0, 1, 2
	phase := warmUp
	for i, e := range l.ordered() {
		if i%1024 == 0 && req.Err() != nil {
			return req.Err()
		}
		if phase == warmUp && e.kind == passBackUp && e.rank == 0 {
			phase = steady
		}
		moves := phase == coolDown || phase == warmUp && explicit
		if phase == steady && e.kind == passDown && int(e.mb) == l.m-1 {
			phase = coolDown
		}
		if moves {
			t.move(e)
		}
		t.taken[e.rank][t.slotOf(e)] = true
	}
	return nil
}

func (t *tightener) slotOf(e placed) int {
	if e.kind == passes {
		return t.l.weights[e.rank][e.mb]
	}
	return t.l.slots[e.rank][e.kind][e.mb]
}

// move puts an entry into the earliest free slot that memory allows.
func (t *tightener) move(e placed) {
	r := int(e.rank)
	first := t.first(e)
	m := &t.memory[r]
	for slot := first; slot < int(e.slot); slot++ {
		if t.taken[r][slot] || !m.try(int(e.slot), slot, t.limit) {
			continue
		}
		if e.kind == passes {
			t.l.weights[r][e.mb] = slot
		} else {
			t.l.slots[r][e.kind][e.mb] = slot
		}
		return
	}
}

// first returns the first slot that an entry's dependencies leave open.
func (t *tightener) first(e placed) int {
	r, mb := int(e.rank), int(e.mb)
	if e.kind < passes {
		return t.l.earliest(r, int(e.kind), mb)
	}
	after := kthOfTwo(t.l.slots[r][passBackDown], t.l.slots[r][passBackUp], mb)
	if mb > 0 {
		after = max(after, t.l.weights[r][mb-1])
	}
	return after + 1
}

// kthOfTwo returns the k-th smallest (from 0) of two ascending lists without
// common elements.
func kthOfTwo(a, b []int, k int) int {
	low, high := max(0, k+1-len(b)), min(len(a), k+1)
	for low < high {
		i := (low + high) / 2 // taken from a; k+1-i from b
		if a[i] < b[k-i] {
			low = i + 1
		} else {
			high = i
		}
	}
	taken := low
	best := -1
	if taken > 0 {
		best = a[taken-1]
	}
	if rest := k + 1 - taken; rest > 0 {
		best = max(best, b[rest-1])
	}
	return best
}
