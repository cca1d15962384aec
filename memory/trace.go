package memory

import "fmt"

// Action is what an entry of an allocation trace records.
type Action uint8

// The actions of a torch.cuda.memory trace.
const (
	ActionAlloc         Action = iota // a block was handed out
	ActionFreeRequested               // the caller freed it
	ActionFreeCompleted               // it became reusable
	ActionSegmentAlloc                // cudaMalloc
	ActionSegmentFree                 // cudaFree
	ActionSegmentMap                  // memory mapped into an expandable segment
	ActionSegmentUnmap                // memory unmapped
	ActionSnapshot                    // a snapshot was taken
	ActionOOM                         // out of memory; Addr is what the driver had free
	ActionOther                       // an annotation that changes nothing
)

var actionNames = [...]string{
	"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
	"segment_map", "segment_unmap", "snapshot", "oom", "user_defined",
}

// String returns the action's name in a snapshot, as in "segment_alloc".
func (x Action) String() string {
	if int(x) < len(actionNames) {
		return actionNames[x]
	}
	return fmt.Sprintf("Action(%d)", uint8(x))
}

// UnmarshalText reads the action's name in a snapshot. Names that this
// version does not know become ActionOther: newer PyTorch adds annotations.
func (x *Action) UnmarshalText(text []byte) error {
	for i, name := range actionNames {
		if name == string(text) {
			*x = Action(i)
			return nil
		}
	}
	if string(text) == "free" { // written by PyTorch before 2.1
		*x = ActionFreeRequested
		return nil
	}
	*x = ActionOther
	return nil
}

// TraceEntry is one entry of an allocation trace.
type TraceEntry struct {
	Addr   int64 // of the block or segment; for ActionOOM the driver's free bytes
	Size   int64 // bytes: the caller's for blocks, whole for segments, rounded for ActionOOM
	Stream int64
	Time   int64 // microseconds, 0 of a simulated one
	Action Action
	Kind   Kind // of a simulated allocation
}

// Reserves returns by how many bytes an entry changes the reserved memory.
func (e *TraceEntry) Reserves() int64 {
	switch e.Action {
	case ActionSegmentAlloc, ActionSegmentMap:
		return e.Size
	case ActionSegmentFree, ActionSegmentUnmap:
		return -e.Size
	}
	return 0
}

// SmallPool reports whether the size of a segment's entry is one of the small
// pool's: 2 MiB, or in expandable segments no multiple of the large granule.
func (e *TraceEntry) SmallPool() bool {
	expandable := e.Action == ActionSegmentMap || e.Action == ActionSegmentUnmap
	return e.Size == smallSegment || expandable && e.Size%largeSegment != 0
}

// recorder collects the trace of an allocator.
type recorder struct {
	entries []TraceEntry
}

func (r *recorder) add(action Action, addr, size int64, stream int, kind Kind) {
	r.entries = append(r.entries, TraceEntry{
		Addr: addr, Size: size, Stream: int64(stream), Action: action, Kind: kind,
	})
}
