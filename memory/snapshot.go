package memory

import (
	"cmp"
	"slices"
)

// BlockState is the state of a block in a snapshot.
type BlockState uint8

// The states of a block.
const (
	Inactive    BlockState = iota // idle, in the cache
	Allocated                     // handed out
	PendingFree                   // freed, waiting for events of other streams
)

var blockStateNames = [...]string{"inactive", "active_allocated", "active_pending_free"}

// String returns the state's name in a snapshot, as in "active_allocated".
func (s BlockState) String() string {
	if int(s) < len(blockStateNames) {
		return blockStateNames[s]
	}
	return "unknown"
}

// Block is a range of a segment. Sizes are bytes.
type Block struct {
	Addr, Size int64
	Requested  int64 // what the caller asked for; 0 when inactive
	State      BlockState
	Kind       Kind // of a simulated allocation
}

// Segment is a contiguous range of device memory: one cudaMalloc, or a mapped
// stretch of an expandable segment. Sizes are bytes.
type Segment struct {
	Device     int
	Addr, Size int64
	Stream     int64
	Small      bool // of the small pool
	Expandable bool
	Pool       int64 // the private pool's number, 0 for the default pool
	Blocks     []Block
}

// Snapshot is the state of the allocators of a process and, where it was
// recorded, their history: what torch.cuda.memory._snapshot returns.
type Snapshot struct {
	Segments []Segment      // by device and address
	Traces   [][]TraceEntry // by device
	Conf     Conf
}

// Snapshot returns the allocator's segments and its trace so far. The trace is
// shared with the allocator.
func (a *Allocator) Snapshot() *Snapshot {
	s := &Snapshot{Segments: a.Segments(), Traces: make([][]TraceEntry, a.device+1), Conf: a.conf}
	if a.trace != nil {
		s.Traces[a.device] = a.trace.entries
	}
	return s
}

// Segments lists what the allocator holds, by ascending address; expandable
// segments come first.
func (a *Allocator) Segments() []Segment { return a.list(a.blocks) }

// SegmentsAtPeak lists what the allocator held when allocated memory was at
// its peak; nil unless Config.KeepPeak is set.
func (a *Allocator) SegmentsAtPeak() []Segment {
	if a.atPeak {
		return a.Segments()
	}
	return a.list(a.peakTable)
}

// SnapshotAtPeak returns what Snapshot would have returned when allocated memory
// was at its peak, so that the trace ends where the segments were taken. It
// needs Config.KeepPeak.
func (a *Allocator) SnapshotAtPeak() *Snapshot {
	s := a.Snapshot()
	if !a.atPeak {
		s.Segments = a.SegmentsAtPeak()
		s.Traces[a.device] = s.Traces[a.device][:a.peakEntries]
	}
	return s
}

// leavePeak saves the blocks when the first of them is freed after a peak.
func (a *Allocator) leavePeak() {
	a.atPeak = false
	a.peakTable = append(a.peakTable[:0], a.blocks...)
	if a.trace != nil {
		a.peakEntries = len(a.trace.entries)
	}
}

// list lists the segments of a table of blocks.
func (a *Allocator) list(table []block) []Segment {
	var heads []int32
	for i := range table {
		if b := &table[i]; b.state != unused && b.prev == 0 {
			heads = append(heads, int32(i))
		}
	}
	slices.SortFunc(heads, func(x, y int32) int { return cmp.Compare(table[x].addr, table[y].addr) })
	var segments []Segment
	for _, head := range heads {
		segments = a.appendStretches(segments, table, head)
	}
	return segments
}

// appendStretches adds the mapped stretches of the segment or window that
// begins with block i.
func (a *Allocator) appendStretches(segments []Segment, table []block, i int32) []Segment {
	open := false
	for ; i != 0; i = table[i].next {
		b := &table[i]
		if b.state == unmapped {
			open = false
			continue
		}
		if !open {
			segments = append(segments, a.segmentOf(b))
			open = true
		}
		s := &segments[len(segments)-1]
		s.Size += b.size
		s.Blocks = append(s.Blocks, b.listed())
	}
	return segments
}

func (a *Allocator) segmentOf(b *block) Segment {
	s := &a.sets[b.set]
	p := &a.pools[s.pool]
	return Segment{
		Device: a.device, Addr: b.addr, Stream: int64(s.stream),
		Small: p.small, Expandable: b.window != 0, Pool: int64(p.private),
	}
}

func (b *block) listed() Block {
	l := Block{Addr: b.addr, Size: b.size}
	switch b.state {
	case live:
		l.State, l.Requested, l.Kind = Allocated, b.requested, b.kind
	case pending:
		l.State, l.Requested, l.Kind = PendingFree, b.requested, b.kind
	}
	return l
}
