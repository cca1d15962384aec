package vshape

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
	s := &squeezer{out: make([][]int8, p), count: make([][blockKinds]int, p), at: make([][blockKinds][]int32, p),
		free: make([]int, p)}
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
			if kind := g.kind[r][j]; kind >= 0 && kind != passUp && kind != passBackUp && kind != blockWeightUp &&
				!s.put(r, kind, m) {
				return false
			}
		}
		for r := p - 1; r >= 0; r-- {
			if kind := g.kind[r][j]; (kind == passUp || kind == passBackUp || kind == blockWeightUp) &&
				!s.put(r, kind, m) {
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
