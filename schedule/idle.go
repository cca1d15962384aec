package schedule

// idleSlots returns, for each rank, the positions in its list before which
// torch.distributed.pipelining leaves a slot empty. Empty slots cost no time;
// they only decide in which order the lowering posts receives.
func (p *Program) idleSlots() [][]int {
	out := make([][]int, p.Ranks)
	for r := range out {
		switch p.Kind {
		case "interleaved", "interleaved-zb", "zb-h1":
			out[r] = p.interleavedIdle(r)
		case "looped-bfs":
			half := len(p.Lists[r]) / 2
			out[r] = repeated(repeated(nil, 0, r), half, 2*(p.Ranks-1-r))
		case "zb-v":
			out[r] = repeated(nil, 0, r)
		}
	}
	return out
}

// repeated appends a position n times.
func repeated(slots []int, position, n int) []int {
	for range n {
		slots = append(slots, position)
	}
	return slots
}

// interleavedIdle aligns the ranks: one slot for each rank before, slots after
// the warm-up until the first gradient is back, and with fused backwards one
// before each backward of the cool-down.
func (p *Program) interleavedIdle(r int) []int {
	split := p.Kind != "interleaved"
	hops := 2 * (p.Ranks - 1 - r)
	if split {
		hops /= 2
	}
	total := p.Microbatches * p.Chunks
	warm := min(total, hops+(p.Chunks-1)*p.GroupSize)
	slots := repeated(nil, 0, r)
	if split {
		return repeated(slots, warm, p.Ranks-r-1)
	}
	slots = repeated(slots, warm, p.Chunks*p.Ranks+2*(p.Ranks-1-r)-(warm+r))
	for i := warm + 2*(total-warm); i < len(p.Lists[r]); i++ {
		slots = append(slots, i)
	}
	return slots
}
