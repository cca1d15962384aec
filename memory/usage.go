package memory

// Usage sums up a listing of segments. Sizes are bytes.
type Usage struct {
	Reserved  int64 // allocated, waiting for events, or idle
	Allocated int64 // whole blocks
	// Releasable is what torch.cuda.empty_cache would give back: whole idle
	// segments, and whole idle granules of expandable ones.
	Releasable  int64
	LargestIdle int64
	// Score is the sum of the squared lengths of idle runs over the squared
	// reserve, which memory_viz prints as fragmentation.
	Score float64
}

// UsageOf sums up segments.
func UsageOf(segments []Segment) Usage {
	var u Usage
	var squares float64
	for i := range segments {
		s := &segments[i]
		u.Reserved += s.Size
		for _, b := range s.Blocks {
			switch b.State {
			case Allocated:
				u.Allocated += b.Size
			case Inactive:
				u.LargestIdle = max(u.LargestIdle, b.Size)
				u.Releasable += s.releasable(&b)
				squares += float64(float64(b.Size) * float64(b.Size))
			}
		}
	}
	if u.Reserved > 0 {
		u.Score = squares / float64(float64(u.Reserved)*float64(u.Reserved))
	}
	return u
}

// releasable returns the bytes of an idle block that can go back to the
// driver. A segment's first byte lies on a granule.
func (s *Segment) releasable(b *Block) int64 {
	if !s.Expandable {
		if b.Size == s.Size {
			return b.Size
		}
		return 0
	}
	g := granule(s.Small)
	begin, end := roundUp(b.Addr-s.Addr, g), (b.Addr-s.Addr+b.Size)/g*g
	return max(end-begin, 0)
}

// Fragmentation is the share of the reserve that is not allocated, 0 to 1.
func (u Usage) Fragmentation() float64 {
	if u.Reserved == 0 {
		return 0
	}
	return 1 - float64(u.Allocated)/float64(u.Reserved)
}
