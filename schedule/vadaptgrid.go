package schedule

// blank is an empty slot of a blockGrid.
const blank int8 = -1

func isForward(kind int8) bool { return kind == passDown || kind == passUp }
func isWeight(kind int8) bool  { return kind >= passes }

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

// peakAtMost returns the peak, or limit where it is larger.
func (g *blockGrid) peakAtMost(limit int) int { return min(g.peak(), limit) }

// squeezer moves entries to the first slot that the order of their rank and
// the pass on the rank before allow.
type squeezer struct {
	out   [][]int8
	count [][blockKinds]int
	at    [][blockKinds][]int32
	free  []int
}

// squeeze closes the gaps without a change of order; each pass takes one slot.
// It reports whether every pass found the one before it done.
func (g *blockGrid) squeeze(m int) bool {
	p, length := len(g.kind), len(g.kind[0])
	s := &squeezer{out: make([][]int8, p), count: make([][blockKinds]int, p), at: make([][blockKinds][]int32, p), free: make([]int, p)}
	for r := range p {
		s.out[r] = make([]int8, length)
		for j := range s.out[r] {
			s.out[r][j] = blank
		}
		for kind := range s.at[r] {
			s.at[r][kind] = make([]int32, m)
		}
	}
	for j := range length {
		for r := range p {
			if kind := g.kind[r][j]; kind >= 0 && kind != passUp && kind != passBackUp && kind != blockWeightUp && !s.put(r, kind, m) {
				return false
			}
		}
		for r := p - 1; r >= 0; r-- {
			if kind := g.kind[r][j]; (kind == passUp || kind == passBackUp || kind == blockWeightUp) && !s.put(r, kind, m) {
				return false
			}
		}
	}
	used := 0
	for _, free := range s.free {
		used = max(used, free)
	}
	for r := range p {
		g.kind[r] = s.out[r][:used]
	}
	return true
}

func (s *squeezer) put(r int, kind int8, m int) bool {
	mb := s.count[r][kind]
	if mb >= m {
		return false
	}
	at := s.free[r]
	if kind < passes {
		if from := passFrom(int(kind), r); from >= 0 && from < len(s.out) {
			if mb >= s.count[from][kind] {
				return false
			}
			at = max(at, int(s.at[from][kind][mb])+1)
		} else if kind > 0 && s.count[r][kind-1] <= mb {
			return false
		}
	}
	if at >= len(s.out[r]) {
		return false
	}
	s.out[r][at] = kind
	s.count[r][kind]++
	s.at[r][kind][mb] = int32(at)
	s.free[r] = at + 1
	return true
}

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
	for ok && (used[passDown] < have[passDown] || used[passUp] < have[passUp] || used[passBackDown] < have[passBackDown] || used[blockWeight] < have[blockWeight]) {
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
