package snapshot

import (
	"cmp"
	"slices"

	"trainsim/memory"
)

// heldBlock is a block that something held when a trace began. Its Size is 0
// when only what was asked for is known.
type heldBlock struct {
	memory.Block
	stream int64
}

// origin is the state of an allocator at the beginning of a trace.
type origin struct {
	blocks   []heldBlock      // by address
	segments []memory.Segment // by address, with those of the blocks that lie in them
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
func (o *origin) lowest(s *memory.Segment) int64 {
	if low, ok := o.lows[windowKey{s.Stream, s.Small}]; ok {
		return low
	}
	return s.Addr
}

// rewind works out the state at the beginning of a trace from the state at
// its end, by undoing the entries from the last to the first. Where the trace
// contradicts the segments, the segments lose.
func rewind(segments []memory.Segment, trace []memory.TraceEntry) origin {
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
			if b.State != memory.Inactive {
				held[b.Addr] = heldBlock{b, s.Stream}
			}
		}
	}
	for i := len(trace) - 1; i >= 0; i-- {
		e := &trace[i]
		undo(e, held, &ranges)
		if e.Action == memory.ActionSegmentMap || e.Action == memory.ActionSegmentUnmap {
			o.saw(e.Addr, e.Stream, e.SmallPool())
		}
	}
	o.segments = ranges.list()
	for _, b := range held {
		o.blocks = append(o.blocks, b)
	}
	slices.SortFunc(o.blocks, func(x, y heldBlock) int { return cmp.Compare(x.Addr, y.Addr) })
	o.assign()
	return o
}

// assign gives each segment its blocks; some lie in none.
func (o *origin) assign() {
	blocks := o.blocks
	for i := range o.segments {
		s := &o.segments[i]
		for len(blocks) > 0 && blocks[0].Addr < s.Addr {
			blocks = blocks[1:]
		}
		for len(blocks) > 0 && blocks[0].Addr < s.Addr+s.Size {
			s.Blocks = append(s.Blocks, blocks[0].Block)
			blocks = blocks[1:]
		}
	}
}

func undo(e *memory.TraceEntry, held map[int64]heldBlock, ranges *rangeMap) {
	switch e.Action {
	case memory.ActionAlloc:
		delete(held, e.Addr)
	case memory.ActionFreeCompleted:
		held[e.Addr] = heldBlock{memory.Block{Addr: e.Addr, Requested: e.Size, State: memory.PendingFree}, e.Stream}
	case memory.ActionFreeRequested:
		b, ok := held[e.Addr]
		if !ok {
			b = heldBlock{memory.Block{Addr: e.Addr, Requested: e.Size}, e.Stream}
		}
		b.State = memory.Allocated
		held[e.Addr] = b
	case memory.ActionSegmentAlloc, memory.ActionSegmentMap:
		ranges.remove(e.Addr, e.Size)
	case memory.ActionSegmentFree, memory.ActionSegmentUnmap:
		expandable := e.Action == memory.ActionSegmentUnmap
		ranges.add(memory.Segment{Addr: e.Addr, Size: e.Size, Stream: e.Stream, Small: e.SmallPool(),
			Expandable: expandable})
	}
}
