package vshape

// warmUp lays out anew what comes before the first I of chunk 0: as many
// forwards as the peak allows, of chunk 1 no more than half of it, then I, W
// and a forward in turn.
func (g *blockGrid) warmUp(m int) bool {
	p := len(g.kind)
	peak := min(g.peak(), 2*p)
	for r, row := range g.kind {
		up := min(r+1, peak/2, m)
		down := min(peak-up, m)
		var have [blockKinds]int
		for j, kind := range row {
			if kind == passBackUp {
				break
			}
			if kind >= 0 {
				have[kind]++
				row[j] = blank
			}
		}
		if !warmUpRow(row, p, r, down, up, have) {
			return false
		}
	}
	return true
}

// warmUpRow lays out the entries that have counts, which were taken out of a
// row, again; ok is false if they do not fit before what was left in it.
func warmUpRow(row []int8, p, r, down, up int, have [blockKinds]int) (ok bool) {
	var used [blockKinds]int
	j := r
	ok = true
	put := func(kind int8, limit int) {
		if used[kind] < min(limit, have[kind]) {
			ok = ok && j < len(row) && row[j] == blank
			if ok {
				row[j] = kind
			}
			used[kind]++
		}
		j++
	}
	for range 2 * (p - 1 - r) {
		put(passDown, down)
	}
	for range r + 1 {
		put(passDown, down)
		put(passUp, up)
	}
	for ok && (used[passDown] < have[passDown] || used[passUp] < have[passUp] ||
		used[passBackDown] < have[passBackDown] || used[blockWeight] < have[blockWeight]) {
		put(passBackDown, have[passBackDown])
		put(blockWeight, have[blockWeight])
		if used[passUp] < have[passUp] {
			put(passUp, have[passUp])
		} else {
			put(passDown, have[passDown])
		}
	}
	return ok
}

// dropAbove takes out the micro-batches from m on.
func (g *blockGrid) dropAbove(m int) {
	for _, row := range g.kind {
		var count [blockKinds]int
		for j, kind := range row {
			if kind < 0 {
				continue
			}
			if count[kind] >= m {
				row[j] = blank
			} else {
				count[kind]++
			}
		}
	}
}

// delayWeights moves the first weight gradients of each rank behind its last
// entry, as many as memory up to limit allows. With few micro-batches that
// shortens the warm-up.
func (g *blockGrid) delayWeights(limit int) {
	lowest := limit
	for _, row := range g.kind {
		lowest = min(lowest, countPeak(row))
	}
	for r, row := range g.kind {
		room := limit - countPeak(row)
		tail := make([]int8, 0, limit-lowest)
		for j, kind := range row {
			if len(tail) >= room {
				break
			}
			if isWeight(kind) {
				tail = append(tail, kind)
				row[j] = blank
			}
		}
		for len(tail) < limit-lowest {
			tail = append(tail, blank)
		}
		g.kind[r] = append(row, tail...)
	}
}
