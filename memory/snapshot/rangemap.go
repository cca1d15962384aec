package snapshot

import (
	"trainsim/memory"
	"trainsim/memory/blockset"
)

// rangeMap holds segments that do not overlap, ordered by address.
type rangeMap struct {
	order  blockset.Set
	ranges []memory.Segment
}

// overlap returns the place of the first range that ends behind addr.
func (m *rangeMap) overlap(addr int64) blockset.Pos {
	p := m.order.LowerBound(0, addr)
	if before, ok := m.order.Prev(p); ok {
		if s := &m.ranges[m.order.At(before)]; s.Addr+s.Size > addr {
			return before
		}
	}
	return p
}

// add inserts a range unless a part of it is there.
func (m *rangeMap) add(s memory.Segment) {
	if s.Size <= 0 {
		return
	}
	if p := m.overlap(s.Addr); m.order.Valid(p) && m.ranges[m.order.At(p)].Addr < s.Addr+s.Size {
		return
	}
	s.Blocks = nil
	m.order.Insert(0, s.Addr, int32(len(m.ranges)))
	m.ranges = append(m.ranges, s)
}

// remove takes the addresses from addr on out of whatever ranges hold them.
func (m *rangeMap) remove(addr, size int64) {
	end := addr + size
	for addr < end {
		p := m.overlap(addr)
		if !m.order.Valid(p) || m.ranges[m.order.At(p)].Addr >= end {
			return
		}
		s := m.ranges[m.order.At(p)]
		m.order.Erase(p)
		if s.Addr < addr {
			m.insertPart(s, s.Addr, addr)
		}
		if s.Addr+s.Size > end {
			m.insertPart(s, end, s.Addr+s.Size)
		}
		addr = s.Addr + s.Size
	}
}

func (m *rangeMap) insertPart(s memory.Segment, from, to int64) {
	s.Addr, s.Size = from, to-from
	m.add(s)
}

// list returns the ranges in order, contiguous stretches of an expandable
// segment as one.
func (m *rangeMap) list() []memory.Segment {
	var out []memory.Segment
	for _, i := range m.order.Append(nil) {
		s := m.ranges[i]
		if last := len(out) - 1; last >= 0 && s.Expandable {
			t := &out[last]
			if t.Expandable && t.Stream == s.Stream && t.Small == s.Small && t.Pool == s.Pool &&
				t.Addr+t.Size == s.Addr {
				t.Size += s.Size
				continue
			}
		}
		out = append(out, s)
	}
	return out
}
