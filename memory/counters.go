package memory

import "math"

// Allocated returns torch.cuda.memory_allocated in bytes.
func (a *Allocator) Allocated() int64 { return a.stats.AllocatedBytes.All.Current }

// Active returns the bytes of blocks that are handed out or wait for events.
func (a *Allocator) Active() int64 { return a.stats.ActiveBytes.All.Current }

// Reserved returns torch.cuda.memory_reserved in bytes.
func (a *Allocator) Reserved() int64 { return a.stats.ReservedBytes.All.Current }

// PeakAllocated returns torch.cuda.max_memory_allocated in bytes.
func (a *Allocator) PeakAllocated() int64 { return a.stats.AllocatedBytes.All.Peak }

// PeakReserved returns torch.cuda.max_memory_reserved in bytes.
func (a *Allocator) PeakReserved() int64 { return a.stats.ReservedBytes.All.Peak }

// AllocatedByKind splits Allocated by what the bytes are for.
func (a *Allocator) AllocatedByKind() [NumKinds]int64 { return a.kinds }

// PeakByKind splits PeakAllocated, as it was when the peak was first reached.
func (a *Allocator) PeakByKind() [NumKinds]int64 { return a.peakKinds }

// ResetPeaks is torch.cuda.reset_peak_memory_stats.
func (a *Allocator) ResetPeaks() {
	a.stats.resetPeaks()
	a.peakKinds = a.kinds
}

// Stats returns torch.cuda.memory_stats.
func (a *Allocator) Stats() Stats { return a.stats }

// SetFraction is torch.cuda.set_per_process_memory_fraction: at most that
// share of Config.Total may be reserved, 1 removes the limit. Values outside
// 0 to 1 and NaN are refused.
func (a *Allocator) SetFraction(x float64) error {
	if !(x >= 0 && x <= 1) {
		return errFraction(x)
	}
	a.setLimit(x)
	return nil
}

func (a *Allocator) setLimit(x float64) {
	a.fraction, a.limit = x, -1
	if x < 1 {
		a.limit = int64(math.Max(x, 0) * float64(a.total))
	}
}
