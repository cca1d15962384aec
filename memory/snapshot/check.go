package snapshot

import (
	"cmp"
	"fmt"
	"slices"

	"trainsim/memory"
)

// check makes a snapshot that was read from a file safe to work with: sizes
// and addresses are sound, segments are ordered and their blocks fill them.
func check(s *memory.Snapshot) error {
	var kept limits
	kept.segments = len(s.Segments)
	for i := range s.Segments {
		kept.blocks += len(s.Segments[i].Blocks)
	}
	if len(s.Traces) > maxDevices {
		return fmt.Errorf("traces of %d devices; at most %d are read", len(s.Traces), maxDevices)
	}
	for _, t := range s.Traces {
		kept.entries += len(t)
	}
	if err := kept.check(); err != nil {
		return err
	}
	for i := range s.Segments {
		if err := checkSegment(&s.Segments[i]); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	slices.SortStableFunc(s.Segments, func(x, y memory.Segment) int {
		return cmp.Or(cmp.Compare(x.Device, y.Device), cmp.Compare(x.Addr, y.Addr))
	})
	for i := 1; i < len(s.Segments); i++ {
		a, b := &s.Segments[i-1], &s.Segments[i]
		if a.Device == b.Device && a.Addr+a.Size > b.Addr {
			return fmt.Errorf("segments at 0x%x and 0x%x overlap", a.Addr, b.Addr)
		}
	}
	return checkTraces(s)
}

func checkTraces(s *memory.Snapshot) error {
	for d, trace := range s.Traces {
		for i := range trace {
			e := &trace[i]
			if e.Size < 0 || e.Action != memory.ActionOOM && !inRange(e.Addr, e.Size) {
				return fmt.Errorf("device %d, trace entry %d: %s of %d bytes at 0x%x is not possible", d, i, e.Action,
					e.Size, uint64(e.Addr))
			}
		}
	}
	return nil
}

// inRange reports whether [addr, addr+size) is a range of a GPU's addresses.
// The bounds are far beyond real ones and keep sums below simulated addresses.
func inRange(addr, size int64) bool {
	return addr >= 0 && size >= 0 && size <= 1<<50 && addr <= 1<<57
}

// checkSegment validates one segment. Snapshots of old versions give no addresses of
// blocks; these follow from the sizes. The blocks are copied before they are
// changed, since a file may share them between segments.
func checkSegment(s *memory.Segment) error {
	if s.Device < 0 || s.Device >= maxDevices || s.Size <= 0 || !inRange(s.Addr, s.Size) {
		return fmt.Errorf("%d bytes at 0x%x on device %d are not possible", s.Size, uint64(s.Addr), s.Device)
	}
	blocks := slices.Clone(s.Blocks)
	at := s.Addr
	for i := range blocks {
		b := &blocks[i]
		if b.Addr == 0 {
			b.Addr = at
		}
		if b.Size <= 0 || b.Addr != at || b.Size > s.Addr+s.Size-at {
			return fmt.Errorf("block %d of %d bytes at 0x%x does not continue the segment at 0x%x", i, b.Size,
				uint64(b.Addr), at)
		}
		if b.Requested <= 0 && b.State != memory.Inactive || b.Requested > b.Size {
			b.Requested = b.Size
		}
		at += b.Size
	}
	if at != s.Addr+s.Size {
		return fmt.Errorf("its blocks have %d bytes of its %d", at-s.Addr, s.Size)
	}
	s.Blocks = blocks
	return nil
}
