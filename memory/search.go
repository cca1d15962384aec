package memory

// collecting reports whether garbage collection is in force; it needs a limit.
func (a *Allocator) collecting() bool { return a.limit >= 0 && a.conf.GCThreshold > 0 }

// search takes the best idle block for the request out of its set, or
// returns 0.
func (a *Allocator) search(r *request) int32 {
	if a.collecting() {
		a.pools[r.pool].searches++
	}
	free := &a.sets[r.set].free
	p, ok := a.find(free, r.size)
	if !ok {
		return 0
	}
	i := free.at(p)
	free.erase(p)
	return i
}

// find returns where the best idle block of a set for a rounded size is: the
// smallest that is large enough, the lowest address among equals. The limits
// on oversize blocks apply to that one candidate only.
func (a *Allocator) find(free *freeSet, size int64) (p pos, ok bool) {
	p = free.lowerBound(size, 0)
	if !free.valid(p) {
		return p, false
	}
	if a.blocks[free.at(p)].window != 0 {
		if p = a.preferHole(free, p); !free.valid(p) {
			return p, false
		}
	}
	found := a.blocks[free.at(p)].size
	if size < a.conf.MaxSplitSize {
		return p, found < a.conf.MaxSplitSize
	}
	return p, found-size < a.conf.MaxNonSplitRounding
}

// cached reports whether a request of the default pool would be served
// without the driver.
func (a *Allocator) cached(size int64, stream int) bool {
	if size <= 0 || size >= maxRequest {
		return false
	}
	p, rounded := int32(smallPool), a.conf.round(size)
	if rounded > smallMax {
		p = largePool
	}
	_, ok := a.find(&a.sets[a.setFor(p, stream)].free, rounded)
	return ok
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
