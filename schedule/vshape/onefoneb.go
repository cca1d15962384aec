package vshape

import "trainsim/schedule"

// fillV1F1B builds 1F1B on the V placement: a repeating pattern of period 6
// with fused backwards of two slots, tightened without exceeding its peak.
func fillV1F1B(req *schedule.Request, p *schedule.Program) error {
	g := newBlockGrid(req.Ranks, req.Microbatches, v1F1BPattern(req.Ranks))
	if err := g.tighten(req); err != nil {
		return err
	}
	p.Lists = g.lists(req.Microbatches)
	return nil
}

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

// tighten moves each entry, in the order of the slots, to an earlier empty one.
func (g *blockGrid) tighten(req *schedule.Request) error {
	for slot := range g.kind[0] {
		if err := req.Err(); err != nil {
			return err
		}
		for r := range g.kind {
			if kind := int(g.kind[r][slot]); kind >= 0 {
				to := g.place(r, kind, slot)
				g.moveTo(r, kind, slot, to)
				g.at[r][kind] = append(g.at[r][kind], to)
			}
		}
	}
	return nil
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
func (g *blockGrid) lists(m int) [][]schedule.Action {
	out := make([][]schedule.Action, len(g.kind))
	for r, row := range g.kind {
		var count [passes]int
		list := make([]schedule.Action, 0, 4*m)
		for _, kind := range row {
			if kind < 0 || kind >= passes {
				continue
			}
			a := passAction(int(kind), count[kind])
			count[kind]++
			if a.Op == schedule.BackwardInput {
				a.Op = schedule.Backward
			}
			list = append(list, a)
		}
		out[r] = list
	}
	return out
}
