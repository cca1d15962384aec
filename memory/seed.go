package memory

// seed gives a new allocator the segments and blocks that a recorded one held
// and returns their Refs by address. Blocks outside every segment are left
// out; they are the caller's to allocate.
func (a *Allocator) seed(o *origin) map[int64]Ref {
	refs := make(map[int64]Ref, len(o.blocks))
	tails := map[int32]int32{} // of the latest window of each set
	blocks := o.blocks
	for i := range o.segments {
		s := &o.segments[i]
		for len(blocks) > 0 && blocks[0].addr < s.Addr {
			blocks = blocks[1:]
		}
		n := 0
		for n < len(blocks) && blocks[n].addr < s.Addr+s.Size {
			n++
		}
		a.seedSegment(s, o.lowest(s), blocks[:n], refs, tails)
		blocks = blocks[n:]
	}
	return refs
}

// poolOf returns the pool of a recorded segment.
func (a *Allocator) poolOf(s *Segment) int32 {
	base := int32(smallPool)
	if s.Pool != 0 {
		base = a.privatePool(int(s.Pool)).base
	}
	if !s.Small {
		base++
	}
	return base
}

// seedSegment builds a segment of blocks and the idle gaps between them.
func (a *Allocator) seedSegment(s *Segment, base int64, blocks []heldBlock, refs map[int64]Ref, tails map[int32]int32) {
	p := a.poolOf(s)
	set := a.setFor(p, int(s.Stream))
	var window, prev, after int32
	if s.Expandable {
		window, prev, after = a.seedWindow(s, base, set, tails)
	}
	at, end := s.Addr, s.Addr+s.Size
	link := func(to int64) int32 {
		i := a.newBlock(set, at, to-at)
		a.blocks[i].window = window
		a.splice(i, prev, after)
		prev, at = i, to
		return i
	}
	var gaps []int32
	for i, b := range blocks {
		if b.addr < at {
			continue // inside the block before it: the record contradicts itself
		}
		if b.addr > at {
			gaps = append(gaps, link(b.addr))
		}
		limit := end
		if i+1 < len(blocks) {
			limit = min(end, blocks[i+1].addr)
		}
		block := link(at + a.seedSize(&b, limit-at, s.Small))
		a.seedLive(block, &b, refs)
	}
	if at < end {
		gaps = append(gaps, link(end))
	}
	for _, gap := range gaps {
		a.store(gap)
	}
	if s.Expandable {
		tails[set] = prev
	}
	a.seedStats(s, gaps)
}

// seedSize is a block's size: the recorded one, or the rounded request with
// what is too small to have been split off.
func (a *Allocator) seedSize(b *heldBlock, room int64, small bool) int64 {
	size := b.size
	if size <= 0 {
		size = a.conf.round(max(b.requested, 1))
		if rest := room - size; rest < minBlock || !small && !a.conf.Expandable && (rest <= smallMax || size >= a.conf.MaxSplitSize) {
			size = room
		}
	}
	return min(size, room)
}

func (a *Allocator) seedLive(i int32, h *heldBlock, refs map[int64]Ref) {
	b := &a.blocks[i]
	b.state, b.kind = live, Temporaries
	b.requested = min(h.requested, b.size)
	a.countAlloc(b, a.pools[a.sets[b.set].pool].small)
	refs[h.addr] = Ref(i)
}

func (a *Allocator) seedStats(s *Segment, gaps []int32) {
	a.stats.ReservedBytes.up(s.Small, s.Size)
	if s.Expandable {
		return
	}
	a.stats.Segment.up(s.Small, 1)
	if s.Size >= a.conf.MaxSplitSize {
		a.stats.OversizeSegments.up(1)
	}
	for _, gap := range gaps {
		if b := &a.blocks[gap]; b.split() {
			a.stats.InactiveSplit.up(s.Small, 1)
			a.stats.InactiveSplitBytes.up(s.Small, b.size)
		}
	}
}

// seedWindow finds the window in which a mapped stretch lies and returns it
// with the blocks before and behind the stretch: the latest window of the set
// if the stretch is behind its tail, or a new one that begins at base, where
// addresses of the window were seen, or else with the stretch.
func (a *Allocator) seedWindow(s *Segment, base int64, set int32, tails map[int32]int32) (window, prev, after int32) {
	if tail := tails[set]; tail != 0 {
		rest := a.blocks[tail].next // what is left of the window, unmapped
		if rest != 0 && s.Addr+s.Size < a.blocks[rest].addr+a.blocks[rest].size {
			return a.blocks[tail].window, a.carve(rest, tail, s), rest
		}
	}
	g := granule(s.Small)
	size := roundUp(max(a.total+a.total/8, s.Size)+s.Size, g)
	if base > s.Addr || s.Addr-base >= size || (s.Addr-base)%g != 0 {
		base = s.Addr
	}
	size += s.Addr - base
	a.windows = append(a.windows, base)
	window = int32(len(a.windows))
	a.windowTop = max(a.windowTop, roundUp(base+size, windowStride))
	head := a.newBlock(set, base, size)
	a.blocks[head].window, a.blocks[head].state = window, unmapped
	a.sets[set].unmapped.insert(entry{0, base, head})
	return window, a.carve(head, 0, s), head
}

// carve takes the stretch s out of the unmapped block i, whose neighbour
// before it is prev, and returns the block before the stretch.
func (a *Allocator) carve(i, prev int32, s *Segment) int32 {
	b := a.blocks[i]
	unmappedSet := &a.sets[b.set].unmapped
	unmappedSet.remove(0, b.addr)
	end := s.Addr + s.Size
	if s.Addr > b.addr { // addresses before the stretch stay unmapped
		gap := a.newBlock(b.set, b.addr, s.Addr-b.addr)
		a.blocks[gap].window, a.blocks[gap].state = b.window, unmapped
		a.splice(gap, prev, i)
		unmappedSet.insert(entry{0, b.addr, gap})
		prev = gap
	}
	a.blocks[i].addr, a.blocks[i].size = end, b.addr+b.size-end
	unmappedSet.insert(entry{0, end, i})
	return prev
}
