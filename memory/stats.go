package memory

// Stat is one counter of torch.cuda.memory_stats: Current, Peak and Allocated
// (the running total of increases) as PyTorch reports them.
type Stat struct {
	Current, Peak, Allocated int64
}

func (s *Stat) up(n int64) {
	s.Current += n
	s.Allocated += n
	if s.Current > s.Peak {
		s.Peak = s.Current
	}
}

func (s *Stat) down(n int64) { s.Current -= n }

// StatSet is a counter over all pools and for the small and the large ones.
type StatSet struct {
	All, Small, Large Stat
}

func (s *StatSet) up(small bool, n int64) {
	s.All.up(n)
	if small {
		s.Small.up(n)
	} else {
		s.Large.up(n)
	}
}

func (s *StatSet) down(small bool, n int64) {
	s.All.Current -= n
	if small {
		s.Small.Current -= n
	} else {
		s.Large.Current -= n
	}
}

func (s *StatSet) change(small bool, n int64) {
	if n > 0 {
		s.up(small, n)
	} else {
		s.down(small, -n)
	}
}

func (s *StatSet) resetPeak() {
	for _, x := range []*Stat{&s.All, &s.Small, &s.Large} {
		x.Peak = x.Current
	}
}

// Stats are the statistics of torch.cuda.memory_stats. Sizes are bytes.
type Stats struct {
	AllocatedBytes, Allocation        StatSet // blocks handed out, whole blocks
	ActiveBytes, Active               StatSet // the same plus blocks that wait for events
	RequestedBytes                    StatSet // what callers asked for, of active blocks
	ReservedBytes, Segment            StatSet // taken from the driver (expandable: bytes only)
	InactiveSplitBytes, InactiveSplit StatSet // idle blocks that share a segment
	OversizeAllocations               Stat    // live blocks of max_split_size or more
	OversizeSegments                  Stat    // segments of max_split_size or more
	NumAllocRetries                   int64   // flushes of the cache followed by a retry
	NumOOMs                           int64
	NumSyncAllStreams                 int64
	NumDeviceAlloc                    int64 // cudaMalloc calls and mappings
	NumDeviceFree                     int64 // cudaFree calls and unmappings
	InvalidFrees                      int64 // frees of a Ref that was not live; 0 in a correct caller
}

func (s *Stats) resetPeaks() {
	for _, x := range []*StatSet{
		&s.AllocatedBytes, &s.Allocation, &s.ActiveBytes, &s.Active, &s.RequestedBytes,
		&s.ReservedBytes, &s.Segment, &s.InactiveSplitBytes, &s.InactiveSplit,
	} {
		x.resetPeak()
	}
	s.OversizeAllocations.Peak = s.OversizeAllocations.Current
	s.OversizeSegments.Peak = s.OversizeSegments.Current
}
