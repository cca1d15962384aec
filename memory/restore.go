package memory

// Restore gives a new allocator the segments that a recorded one held and
// returns the Refs of their blocks by address. Segments come by ascending
// address. Of each, Blocks lists what was handed out, by address; a Size of 0
// means that only what was asked for is known, and State is ignored. base
// returns the lowest address that is known of the window in which an expandable
// segment lies.
func (a *Allocator) Restore(segments []Segment, base func(*Segment) int64) map[int64]Ref {
	r := restorer{a: a, refs: map[int64]Ref{}, tails: map[int32]int32{}}
	for i := range segments {
		s := &segments[i]
		r.begin(s, base(s))
		r.fill(s.Blocks)
		r.finish()
	}
	return r.refs
}

// restorer rebuilds recorded segments in a new allocator.
type restorer struct {
	a     *Allocator
	refs  map[int64]Ref   // by recorded address
	tails map[int32]int32 // the last block of the latest window of each set

	// of the segment under construction
	segment     *Segment
	set, window int32
	prev, after int32 // the blocks between which the next one goes
	at          int64 // where the next one begins
	gaps        []int32
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

// begin starts a segment; base is the lowest known address of its window.
func (s *restorer) begin(seg *Segment, base int64) {
	s.segment, s.at, s.gaps = seg, seg.Addr, s.gaps[:0]
	s.set = s.a.setFor(s.a.poolOf(seg), int(seg.Stream))
	s.window, s.prev, s.after = 0, 0, 0
	if seg.Expandable {
		s.openWindow(base)
	}
}

// link appends a block that ends at to.
func (s *restorer) link(to int64) int32 {
	i := s.a.newBlock(s.set, s.at, to-s.at)
	s.a.blocks[i].window = s.window
	s.a.splice(i, s.prev, s.after)
	s.prev, s.at = i, to
	return i
}

// fill builds the blocks of the segment and the idle gaps between them.
func (s *restorer) fill(blocks []Block) {
	end := s.segment.Addr + s.segment.Size
	for i := range blocks {
		b := &blocks[i]
		if b.Addr < s.at {
			continue // inside the block before it: the record contradicts itself
		}
		if b.Addr > s.at {
			s.gaps = append(s.gaps, s.link(b.Addr))
		}
		limit := end
		if i+1 < len(blocks) {
			limit = min(end, blocks[i+1].Addr)
		}
		s.hold(s.link(s.at+s.a.restoredSize(b, limit-s.at, s.segment.Small)), b)
	}
	if s.at < end {
		s.gaps = append(s.gaps, s.link(end))
	}
}

// hold marks a block as handed out.
func (s *restorer) hold(i int32, h *Block) {
	b := &s.a.blocks[i]
	b.state, b.kind = live, Temporaries
	b.requested = min(h.Requested, b.size)
	s.a.countAlloc(b, s.segment.Small)
	s.refs[h.Addr] = Ref(i)
}

// finish stores the gaps and counts the segment.
func (s *restorer) finish() {
	st := &s.a.stats
	small := s.segment.Small
	st.ReservedBytes.up(small, s.segment.Size)
	for _, gap := range s.gaps {
		s.a.store(gap)
		if b := &s.a.blocks[gap]; b.split() && !s.segment.Expandable {
			st.InactiveSplit.up(small, 1)
			st.InactiveSplitBytes.up(small, b.size)
		}
	}
	if s.segment.Expandable {
		s.tails[s.set] = s.prev
		return
	}
	st.Segment.up(small, 1)
	if s.segment.Size >= s.a.conf.MaxSplitSize {
		st.OversizeSegments.up(1)
	}
}

// restoredSize is a block's size: the recorded one, or the rounded request with
// what is too small to have been split off.
func (a *Allocator) restoredSize(b *Block, room int64, small bool) int64 {
	size := b.Size
	if size <= 0 {
		size = a.conf.round(max(b.Requested, 1))
		if rest := room - size; rest < minBlock ||
			!small && !a.conf.Expandable && (rest <= smallMax || size >= a.conf.MaxSplitSize) {
			size = room
		}
	}
	return min(size, room)
}

// openWindow finds the window in which a mapped stretch lies: the latest of
// its set if the stretch is behind its tail, or a new one that begins at base,
// where addresses of the window were seen, or else with the stretch.
func (s *restorer) openWindow(base int64) {
	a, seg := s.a, s.segment
	if tail := s.tails[s.set]; tail != 0 {
		rest := a.blocks[tail].next // what is left of the window, unmapped
		if rest != 0 && seg.Addr+seg.Size < a.blocks[rest].addr+a.blocks[rest].size {
			s.window, s.prev, s.after = a.blocks[tail].window, a.carve(rest, tail, seg), rest
			return
		}
	}
	g := granule(seg.Small)
	size := roundUp(max(a.total+a.total/8, seg.Size)+seg.Size, g)
	if base > seg.Addr || seg.Addr-base >= size || (seg.Addr-base)%g != 0 {
		base = seg.Addr
	}
	size += seg.Addr - base
	a.windows = append(a.windows, base)
	a.windowTop = max(a.windowTop, roundUp(base+size, windowStride))
	head := a.newBlock(s.set, base, size)
	s.window = int32(len(a.windows))
	a.blocks[head].window, a.blocks[head].state = s.window, unmapped
	a.sets[s.set].unmapped.Insert(0, base, head)
	s.prev, s.after = a.carve(head, 0, seg), head
}

// carve takes the stretch s out of the unmapped block i, whose neighbour
// before it is prev, and returns the block before the stretch.
func (a *Allocator) carve(i, prev int32, s *Segment) int32 {
	b := a.blocks[i]
	unmappedSet := &a.sets[b.set].unmapped
	unmappedSet.Remove(0, b.addr)
	end := s.Addr + s.Size
	if s.Addr > b.addr { // addresses before the stretch stay unmapped
		gap := a.newBlock(b.set, b.addr, s.Addr-b.addr)
		a.blocks[gap].window, a.blocks[gap].state = b.window, unmapped
		a.splice(gap, prev, i)
		unmappedSet.Insert(0, b.addr, gap)
		prev = gap
	}
	a.blocks[i].addr, a.blocks[i].size = end, b.addr+b.size-end
	unmappedSet.Insert(0, end, i)
	return prev
}
