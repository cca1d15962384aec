package memory

import (
	"cmp"
	"slices"
)

// heldBlock is a block that something held when a trace began.
type heldBlock struct {
	addr      int64
	size      int64 // of the block, 0 when only what was asked for is known
	requested int64
	stream    int64
	pending   bool // freed already, waiting for events
}

// origin is the state of an allocator at the beginning of a trace.
type origin struct {
	blocks   []heldBlock // by address
	segments []Segment   // by address, without blocks
	lows     map[windowKey]int64
}

// windowKey tells the expandable windows of a device apart.
type windowKey struct {
	stream int64
	small  bool
}

// saw notes an address of an expandable window.
func (o *origin) saw(addr, stream int64, small bool) {
	key := windowKey{stream, small}
	if low, ok := o.lows[key]; !ok || addr < low {
		o.lows[key] = addr
	}
}

// lowest returns the lowest address of the window of s that was ever seen.
func (o *origin) lowest(s *Segment) int64 {
	if low, ok := o.lows[windowKey{s.Stream, s.Small}]; ok {
		return low
	}
	return s.Addr
}

// rewind works out the state at the beginning of a trace from the state at
// its end, by undoing the entries from the last to the first. Where the trace
// contradicts the segments, the segments lose.
func rewind(segments []Segment, trace []TraceEntry) origin {
	held := map[int64]heldBlock{}
	var ranges rangeMap
	o := origin{lows: map[windowKey]int64{}}
	for i := range segments {
		s := &segments[i]
		ranges.add(*s)
		if s.Expandable {
			o.saw(s.Addr, s.Stream, s.Small)
		}
		for _, b := range s.Blocks {
			if b.State != Inactive {
				held[b.Addr] = heldBlock{b.Addr, b.Size, b.Requested, s.Stream, b.State == PendingFree}
			}
		}
	}
	for i := len(trace) - 1; i >= 0; i-- {
		e := &trace[i]
		undo(e, held, &ranges)
		if e.Action == ActionSegmentMap || e.Action == ActionSegmentUnmap {
			o.saw(e.Addr, e.Stream, e.smallPages())
		}
	}
	o.segments = ranges.list()
	for _, b := range held {
		o.blocks = append(o.blocks, b)
	}
	slices.SortFunc(o.blocks, func(x, y heldBlock) int { return cmp.Compare(x.addr, y.addr) })
	return o
}

func undo(e *TraceEntry, held map[int64]heldBlock, ranges *rangeMap) {
	switch e.Action {
	case ActionAlloc:
		delete(held, e.Addr)
	case ActionFreeCompleted:
		held[e.Addr] = heldBlock{e.Addr, 0, e.Size, e.Stream, true}
	case ActionFreeRequested:
		b, ok := held[e.Addr]
		if !ok {
			b = heldBlock{e.Addr, 0, e.Size, e.Stream, false}
		}
		b.pending = false
		held[e.Addr] = b
	case ActionSegmentAlloc, ActionSegmentMap:
		ranges.remove(e.Addr, e.Size)
	case ActionSegmentFree, ActionSegmentUnmap:
		expandable := e.Action == ActionSegmentUnmap
		ranges.add(Segment{Addr: e.Addr, Size: e.Size, Stream: e.Stream, Small: e.smallPages(), Expandable: expandable})
	}
}

// smallPages reports whether a segment's size is one of the small pool's: of
// 2 MiB, or in expandable segments no multiple of the large granule.
func (e *TraceEntry) smallPages() bool {
	expandable := e.Action == ActionSegmentMap || e.Action == ActionSegmentUnmap
	return e.Size == smallSegment || expandable && e.Size%largeSegment != 0
}

// rangeMap holds segments that do not overlap, ordered by address.
type rangeMap struct {
	order  freeSet
	ranges []Segment
}

// overlap returns the place of the first range that ends behind addr.
func (m *rangeMap) overlap(addr int64) pos {
	p := m.order.lowerBound(0, addr)
	if before, ok := m.order.prev(p); ok {
		if s := &m.ranges[m.order.at(before)]; s.Addr+s.Size > addr {
			return before
		}
	}
	return p
}

// add inserts a range unless a part of it is there.
func (m *rangeMap) add(s Segment) {
	if s.Size <= 0 {
		return
	}
	if p := m.overlap(s.Addr); m.order.valid(p) && m.ranges[m.order.at(p)].Addr < s.Addr+s.Size {
		return
	}
	s.Blocks = nil
	m.order.insert(entry{0, s.Addr, int32(len(m.ranges))})
	m.ranges = append(m.ranges, s)
}

// remove takes the addresses from addr on out of whatever ranges hold them.
func (m *rangeMap) remove(addr, size int64) {
	end := addr + size
	for addr < end {
		p := m.overlap(addr)
		if !m.order.valid(p) || m.ranges[m.order.at(p)].Addr >= end {
			return
		}
		s := m.ranges[m.order.at(p)]
		m.order.erase(p)
		if s.Addr < addr {
			m.insertPart(s, s.Addr, addr)
		}
		if s.Addr+s.Size > end {
			m.insertPart(s, end, s.Addr+s.Size)
		}
		addr = s.Addr + s.Size
	}
}

func (m *rangeMap) insertPart(s Segment, from, to int64) {
	s.Addr, s.Size = from, to-from
	m.add(s)
}

// list returns the ranges in order, contiguous stretches of an expandable
// segment as one.
func (m *rangeMap) list() []Segment {
	var out []Segment
	for _, i := range m.order.list(nil) {
		s := m.ranges[i]
		if last := len(out) - 1; last >= 0 && s.Expandable {
			t := &out[last]
			if t.Expandable && t.Stream == s.Stream && t.Small == s.Small && t.Pool == s.Pool && t.Addr+t.Size == s.Addr {
				t.Size += s.Size
				continue
			}
		}
		out = append(out, s)
	}
	return out
}
