package vshape

// gapFiller walks the slots of all ranks in order and moves a later entry of
// the same rank into each empty one, if everything it needs is done and memory
// stays within the peak.
type gapFiller struct {
	g     *blockGrid
	limit int
	last  [][blockKinds]int // last slot of each kind
	count [][blockKinds]int
	at    [][blockKinds][]int32
	live  []int
}

func (g *blockGrid) fillGaps(m int) {
	p := len(g.kind)
	f := &gapFiller{g: g, limit: g.peak(), last: make([][blockKinds]int, p), count: make([][blockKinds]int, p),
		at: make([][blockKinds][]int32, p), live: make([]int, p)}
	for r, row := range g.kind {
		for kind := range f.last[r] {
			f.last[r][kind] = -1
			f.at[r][kind] = make([]int32, 0, m)
		}
		for j, kind := range row {
			if kind >= 0 {
				f.last[r][kind] = j
			}
		}
	}
	for j := range g.kind[0] {
		for r := range p {
			if kind := g.kind[r][j]; kind >= 0 {
				f.take(r, kind, j)
			} else if k, ok := f.find(r, j); ok {
				kind = g.kind[r][k]
				g.kind[r][j], g.kind[r][k] = kind, blank
				f.take(r, kind, j)
			}
		}
	}
}

func (f *gapFiller) take(r int, kind int8, slot int) {
	f.count[r][kind]++
	f.at[r][kind] = append(f.at[r][kind], int32(slot))
	switch {
	case isForward(kind):
		f.live[r]++
	case isWeight(kind):
		f.live[r]--
	}
}

// find returns the slot of the first later entry that can move to slot j; only
// the next of each kind is looked at.
func (f *gapFiller) find(r, j int) (slot int, ok bool) {
	var open [blockKinds]bool
	left := 0
	for kind := range open {
		if f.last[r][kind] > j {
			open[kind] = true
			left++
		}
	}
	change, peak := 0, 0
	row := f.g.kind[r]
	for k := j + 1; k < len(row) && left > 0; k++ {
		kind := row[k]
		before := peak
		switch {
		case isForward(kind):
			change++
		case isWeight(kind):
			change--
		}
		peak = max(peak, change)
		if kind == blank || !open[kind] {
			continue
		}
		open[kind] = false
		left--
		if isForward(kind) && f.live[r]+before >= f.limit {
			continue
		}
		if f.ready(r, kind, j) {
			return k, true
		}
	}
	return 0, false
}

// ready reports whether the next entry of a kind could run in slot j.
func (f *gapFiller) ready(r int, kind int8, j int) bool {
	mb := f.count[r][kind]
	if isWeight(kind) {
		return f.count[r][kind-blockWeight+passBackDown] > mb
	}
	from := passFrom(int(kind), r)
	switch {
	case from >= 0 && from < len(f.count):
		return mb < f.count[from][kind] && int(f.at[from][kind][mb]) < j
	case kind > 0:
		return f.count[r][kind-1] > mb
	}
	return true
}
