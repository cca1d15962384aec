package schedule

// buildV1F1B builds 1F1B on the V placement: a repeating pattern of period 6
// with fused backwards of two slots, tightened without exceeding its peak.
func buildV1F1B(k *Kind, o Options) (*Program, error) {
	g := newBlockGrid(o.Ranks, o.Microbatches, v1F1BPattern(o.Ranks))
	g.tighten()
	p := newProgram(k.Name, o, 2, Wave)
	p.Lists = g.lists(o.Microbatches)
	return p, nil
}

// blockWeight and blockWeightUp follow the passes of a V as kinds of a block
// grid: the second slot of the fused backward of chunk 1 and of chunk 0.
const (
	blockWeight = passes + iota
	blockWeightUp
	blockKinds
)

// v1F1BPattern returns the slot, modulo 6, of each kind on each rank.
func v1F1BPattern(p int) [][blockKinds]int {
	pattern := make([][blockKinds]int, p)
	now := 0
	for r := range p {
		now++
		pattern[r][passDown] = now % 6
	}
	for r := p - 1; r >= 0; r-- {
		now++
		pattern[r][passUp] = now % 6
	}
	now++
	if p%3 == 0 {
		now += 3
	}
	cycle := (3 - (p+2)%3) % 3
	place := func(r, backward, weight int) {
		pattern[r][backward], pattern[r][weight] = now%6, (now+1)%6
		now += 2
		if cycle++; cycle == 3 {
			cycle = 0
			now += 3
		}
	}
	for r := range p {
		place(r, passBackDown, blockWeight)
	}
	for r := p - 1; r >= 0; r-- {
		place(r, passBackUp, blockWeightUp)
	}
	return pattern
}

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

// tighten moves each entry, in the order of the slots, to an earlier empty one.
func (g *blockGrid) tighten() {
	for slot := range g.kind[0] {
		for r := range g.kind {
			if kind := int(g.kind[r][slot]); kind >= 0 {
				to := g.place(r, kind, slot)
				g.moveTo(r, kind, slot, to)
				g.at[r][kind] = append(g.at[r][kind], to)
			}
		}
	}
}

// place returns the slot for an entry, at most the one that it has.
func (g *blockGrid) place(r, kind, slot int) int {
	row := g.kind[r]
	to := g.after(r, kind) + 1
	empty := func(i int) bool { return row[i] < 0 }
	for to < slot && !empty(to) {
		to++
	}
	if kind == passBackDown || kind == passBackUp {
		for to < slot && !(empty(to) && empty(to+1)) {
			to++
		}
	}
	if kind != passDown && kind != passUp || to == slot {
		return to
	}
	at := slot
	for at > to && g.live[r][at-1] < g.limit {
		at--
	}
	for at < slot && !empty(at) {
		at++
	}
	return at
}

// after returns the slot of the last entry that the next of its kind needs. A
// fused backward hands over at the end of its second slot.
func (g *blockGrid) after(r, kind int) int {
	mb := len(g.at[r][kind])
	last := -1
	need := func(rank, kind int) {
		if done := g.at[rank][kind]; mb < len(done) {
			last = max(last, done[mb])
		}
	}
	if mb > 0 {
		last = g.at[r][kind][mb-1]
	}
	first, end := 0, len(g.kind)-1
	switch {
	case kind >= passes:
		need(r, kind-passes+passBackDown)
	case kind == passDown && r > first:
		need(r-1, passDown)
	case kind == passUp && r < end:
		need(r+1, passUp)
	case kind == passUp:
		need(r, passDown)
	case kind == passBackDown && r > first:
		need(r-1, blockWeight)
	case kind == passBackDown:
		need(r, passUp)
	case kind == passBackUp && r < end:
		need(r+1, blockWeightUp)
	case kind == passBackUp:
		need(r, blockWeight)
	}
	return last
}

func (g *blockGrid) moveTo(r, kind, from, to int) {
	if from == to {
		return
	}
	g.kind[r][from], g.kind[r][to] = -1, int8(kind)
	change := 0
	switch {
	case kind == passDown || kind == passUp:
		change = 1
	case kind >= passes:
		change = -1
	}
	for i := to; i < from; i++ {
		g.live[r][i] += change
	}
}

// lists returns each rank's order with the backwards fused.
func (g *blockGrid) lists(m int) [][]Action {
	out := make([][]Action, len(g.kind))
	for r, row := range g.kind {
		var count [passes]int
		list := make([]Action, 0, 4*m)
		for _, kind := range row {
			if kind < 0 || kind >= passes {
				continue
			}
			a := passAction(int(kind), count[kind])
			count[kind]++
			if a.Op == BackwardInput {
				a.Op = Backward
			}
			list = append(list, a)
		}
		out[r] = list
	}
	return out
}
