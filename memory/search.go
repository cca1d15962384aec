package memory

// collecting reports whether garbage collection is in force; it needs a limit.
func (a *Allocator) collecting() bool { return a.limit >= 0 && a.conf.GCThreshold > 0 }

// search takes the best idle block for the request out of its set, or
// returns 0: the smallest that is large enough, the lowest address among
// equals. The limits on oversize blocks apply to that one candidate only.
func (a *Allocator) search(r *request) int32 {
	if a.collecting() {
		a.pools[r.pool].searches++
	}
	free := &a.sets[r.set].free
	p := free.lowerBound(r.size, 0)
	if !free.valid(p) {
		return 0
	}
	i := free.at(p)
	if a.blocks[i].window != 0 {
		if p = a.preferHole(free, p); !free.valid(p) {
			return 0
		}
		i = free.at(p)
	}
	size := a.blocks[i].size
	if r.size < a.conf.MaxSplitSize {
		if size >= a.conf.MaxSplitSize {
			return 0
		}
	} else if size-r.size >= a.conf.MaxNonSplitRounding {
		return 0
	}
	free.erase(p)
	return i
}

// preferHole moves on from an expandable candidate. With expandable segments
// on, a block that could grow counts with the size to which it can, so holes
// between blocks are taken first; with the mode off such blocks are skipped.
func (a *Allocator) preferHole(free *freeSet, p pos) pos {
	if !a.conf.Expandable {
		for free.valid(p) && a.blocks[free.at(p)].window != 0 {
			p = free.next(p)
		}
		return p
	}
	reach := a.reach(free.at(p))
	for a.blocks[free.at(p)].window != 0 {
		next := free.next(p)
		if !free.valid(next) {
			break
		}
		further := a.reach(free.at(next))
		if further >= reach {
			break
		}
		p, reach = next, further
	}
	return p
}

// reach returns the size of a block with the unmapped addresses behind it.
func (a *Allocator) reach(i int32) int64 {
	b := &a.blocks[i]
	if b.next != 0 && a.blocks[b.next].state == unmapped {
		return b.size + a.blocks[b.next].size
	}
	return b.size
}
