package vshape

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
				last := p - 1
				if later == offset {
					last = 1 // wherever equal offsets change, the block is the same
				}
				for change := 1; change <= last; change++ {
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
