package memory

import (
	"fmt"
	"strings"
)

// OutOfMemory is torch.cuda.OutOfMemoryError: every quantity of its message,
// taken after the cache was flushed, and what a diagnosis needs beyond it.
// Sizes are bytes.
type OutOfMemory struct {
	Requested int64 // what the caller asked for
	Rounded   int64 // the block it would have become
	Tried     int64 // the segment the driver was asked for
	Device    int
	Total     int64 // the device's memory
	Free      int64 // what the driver has left
	Allowed   int64 // the memory fraction's limit, -1 without one
	Allocated int64 // allocated by PyTorch, with PrivateFree
	// PrivateFree lies idle in private pools (CUDA graphs), out of reach.
	PrivateFree int64
	// Unallocated is reserved by PyTorch and neither allocated nor in private
	// pools: idle blocks that share segments with live ones, and blocks that
	// wait for events.
	Unallocated int64
	Reserved    int64
	External    int64 // taken from the driver by others in this process
	// LargestIdle is the largest idle block of the request's pool and stream
	// and IdleBlocks how many there are.
	LargestIdle int64
	IdleBlocks  int
	Stream      int
	Kind        Kind
	// TooLarge is set for a request of 2^60 bytes or more, which PyTorch
	// refuses before the allocator sees it; then only Requested, Device,
	// Stream and Kind are set.
	TooLarge bool
}

// Fragmented reports whether the idle bytes that PyTorch already holds for
// the request's stream would have been enough had they been in one piece.
func (e *OutOfMemory) Fragmented() bool {
	return !e.TooLarge && e.Unallocated >= e.Rounded && e.LargestIdle < e.Rounded
}

// Error is PyTorch's message, without its advice and without the usage of
// other processes, which a model of one process does not know.
func (e *OutOfMemory) Error() string {
	if e.TooLarge {
		return "CUDA out of memory. Tried to allocate more than 1EB memory."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CUDA out of memory. Tried to allocate %s. GPU %d has a total capacity of %s of which %s is "+
		"free. ",
		FormatSize(e.Tried), e.Device, FormatSize(e.Total), FormatSize(e.Free))
	if e.Allowed >= 0 {
		fmt.Fprintf(&b, "%s allowed; ", FormatSize(e.Allowed))
	}
	fmt.Fprintf(&b, "Of the allocated memory %s is allocated by PyTorch, ", FormatSize(e.Allocated))
	if e.PrivateFree > 0 {
		fmt.Fprintf(&b, "with %s allocated in private pools (e.g., CUDA Graphs), ", FormatSize(e.PrivateFree))
	}
	fmt.Fprintf(&b, "and %s is reserved by PyTorch but unallocated.", FormatSize(e.Unallocated))
	return b.String()
}

// FormatSize writes bytes the way PyTorch's message does, as in "22.00 MiB".
func FormatSize(bytes int64) string {
	switch {
	case bytes <= kib:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes <= mib:
		return fmt.Sprintf("%.2f KiB", float64(bytes)/float64(kib))
	case bytes <= gib:
		return fmt.Sprintf("%.2f MiB", float64(bytes)/float64(mib))
	}
	return fmt.Sprintf("%.2f GiB", float64(bytes)/float64(gib))
}

func (a *Allocator) tooLarge(size int64, stream int, kind Kind) error {
	return &OutOfMemory{TooLarge: true, Requested: size, Device: a.device, Stream: stream, Kind: kind}
}

func (a *Allocator) outOfMemory(r *request, size int64, stream int, kind Kind) error {
	a.stats.NumOOMs++
	if a.trace != nil {
		a.trace.add(ActionOOM, a.driverFree(), r.size, stream, kind)
	}
	private := a.privateFree()
	free := &a.sets[r.set].free
	e := &OutOfMemory{
		Requested: size, Rounded: r.size, Tried: segmentSize(r.size), Device: a.device,
		Total: a.total, Free: a.driverFree(), Allowed: a.limit,
		Allocated: a.Allocated() + private, PrivateFree: private,
		Unallocated: a.Reserved() - a.Allocated() - private,
		Reserved:    a.Reserved(), External: a.external,
		IdleBlocks: free.Len(), Stream: stream, Kind: kind,
	}
	if last, ok := free.Prev(free.End()); ok {
		e.LargestIdle = a.blocks[free.At(last)].size
	}
	return e
}
