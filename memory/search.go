package memory

import "trainsim/memory/blockset"

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
	i := free.At(p)
	free.Erase(p)
	return i
}

// find returns where the best idle block of a set for a rounded size is: the
// smallest that is large enough, the lowest address among equals. The limits
// on oversize blocks apply to that one candidate only.
func (a *Allocator) find(free *blockset.Set, size int64) (p blockset.Pos, ok bool) {
	p = free.LowerBound(size, 0)
	if !free.Valid(p) {
		return p, false
	}
	if a.blocks[free.At(p)].window != 0 {
		if p = a.preferHole(free, p); !free.Valid(p) {
			return p, false
		}
	}
	found := a.blocks[free.At(p)].size
	if size < a.conf.MaxSplitSize {
		return p, found < a.conf.MaxSplitSize
	}
	return p, found-size < a.conf.MaxNonSplitRounding
}

// preferHole moves on from an expandable candidate. With expandable segments
// on, a block that could grow counts with the size to which it can, so holes
// between blocks are taken first; with the mode off such blocks are skipped.
func (a *Allocator) preferHole(free *blockset.Set, p blockset.Pos) blockset.Pos {
	if !a.conf.Expandable {
		for free.Valid(p) && a.blocks[free.At(p)].window != 0 {
			p = free.Next(p)
		}
		return p
	}
	reach := a.reach(free.At(p))
	for a.blocks[free.At(p)].window != 0 {
		next := free.Next(p)
		if !free.Valid(next) {
			break
		}
		further := a.reach(free.At(next))
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
