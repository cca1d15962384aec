package memory

// Config describes a device as its allocator sees it.
type Config struct {
	// Capacity in bytes is what the driver can give this process: the
	// device's memory less the CUDA context and what others use.
	Capacity int64
	// Total in bytes is what the driver reports as the device's memory; the
	// memory fraction is a share of it. Capacity when 0.
	Total int64
	// Conf is the text of PYTORCH_CUDA_ALLOC_CONF, parsed. The zero value
	// means PyTorch's defaults.
	Conf Conf
	// Fraction is torch.cuda.set_per_process_memory_fraction's argument;
	// 0 and 1 set no limit.
	Fraction float64
	// Device is the GPU's index in the out-of-memory message.
	Device int
	// Trace makes the allocator record what memory_viz shows as history.
	Trace bool
	// KeepPeak makes the allocator remember its blocks at the peak of
	// allocated memory for [Allocator.SegmentsAtPeak].
	KeepPeak bool
}

// Allocator is the caching allocator of one device. It is not safe for use by
// several goroutines at once.
type Allocator struct {
	conf      Conf
	device    int
	capacity  int64 // what the driver can give
	total     int64 // what the driver reports
	fraction  float64
	limit     int64   // bytes that may be reserved, -1 without a limit
	external  int64   // taken from the driver by others than the allocator
	segTop    int64   // next cudaMalloc address
	windowTop int64   // where the next expandable window begins
	windows   []int64 // where each expandable window begins

	blocks   []block
	recycled int32
	sets     []set
	pools    []pool
	privates []privatePool

	uses      []streamUse
	freeUse   int32
	queues    []eventQueue // by ascending stream
	waiting   int          // events that are not finished
	scratch   []int32
	work      DriverWork
	stats     Stats
	kinds     [NumKinds]int64
	peakKinds [NumKinds]int64
	trace     *recorder
	parked    []int32 // blocks that wait without an event of a stream
	parkings  uint64
	keepPeak  bool
	atPeak    bool    // nothing was freed since the latest peak
	peakTable []block // the blocks at the latest peak that was left
	// peakEntries is how many entries the trace had then.
	peakEntries int
}

// New returns an allocator that holds nothing.
func New(c Config) *Allocator {
	a := &Allocator{
		conf:      c.Conf.normal(),
		device:    c.Device,
		capacity:  max(c.Capacity, 0),
		total:     c.Total,
		limit:     -1,
		segTop:    SegmentBase,
		windowTop: windowStride,
		blocks:    make([]block, 1, 256),
		uses:      make([]streamUse, 1),
		keepPeak:  c.KeepPeak,
	}
	if a.total == 0 {
		a.total = a.capacity
	}
	a.newPool(true, 0)
	a.newPool(false, 0)
	if c.Fraction != 0 {
		a.setLimit(c.Fraction)
	}
	if c.Trace {
		a.trace = &recorder{}
	}
	return a
}

// SetConf changes the settings while the allocator holds memory.
func (a *Allocator) SetConf(c Conf) { a.conf = c.normal() }

// Conf returns the settings in force.
func (a *Allocator) Conf() Conf { return a.conf }

// Malloc allocates size bytes for a stream. The error is an *[OutOfMemory].
// A size of zero or below gives the zero Ref, as PyTorch gives a null pointer.
func (a *Allocator) Malloc(size int64, stream int, kind Kind) (Ref, error) {
	if size <= 0 {
		return 0, nil
	}
	if size >= maxRequest {
		return 0, a.tooLarge(size, stream, kind)
	}
	return a.malloc(size, stream, kind, smallPool)
}

// malloc serves a request from the pair of pools that begins at base.
func (a *Allocator) malloc(size int64, stream int, kind Kind, base int32) (Ref, error) {
	if a.waiting != 0 {
		a.processEvents()
	}
	rounded := a.conf.round(size)
	p := base
	if rounded > smallMax {
		p++
	}
	r := request{size: rounded, set: a.setFor(p, stream), pool: p}
	i := a.search(&r)
	if i == 0 {
		if i = a.grow(&r); i == 0 {
			return 0, a.outOfMemory(&r, size, stream, kind)
		}
	}
	return a.handOut(&r, i, size, kind), nil
}

// request is a rounded request on its way to a block.
type request struct {
	size int64
	set  int32
	pool int32
}

// grow takes memory from the driver, giving back cached memory if it must.
func (a *Allocator) grow(r *request) int32 {
	if a.collecting() {
		a.collectGarbage()
	}
	if i := a.newMemory(r, false); i != 0 {
		return i
	}
	if a.releaseAvailable(r) {
		if i := a.newMemory(r, false); i != 0 {
			return i
		}
	}
	a.releaseCached()
	return a.newMemory(r, true)
}

// handOut splits block i, which is in no set, and marks it live.
func (a *Allocator) handOut(r *request, i int32, size int64, kind Kind) Ref {
	small := a.pools[r.pool].small
	wasSplit := a.blocks[i].split()
	segment := a.blocks[i].window == 0
	if a.shouldSplit(i, r.size, small) {
		rest := a.cut(i, r.size)
		switch {
		case segment && wasSplit:
			a.stats.InactiveSplitBytes.down(small, r.size)
		case segment:
			a.stats.InactiveSplitBytes.up(small, a.blocks[rest].size)
			a.stats.InactiveSplit.up(small, 1)
		}
	} else if wasSplit && segment {
		a.stats.InactiveSplitBytes.down(small, a.blocks[i].size)
		a.stats.InactiveSplit.down(small, 1)
	}
	b := &a.blocks[i]
	b.state, b.requested, b.kind = live, size, kind
	a.countAlloc(b, small)
	if a.trace != nil {
		a.trace.add(ActionAlloc, b.addr, size, a.sets[b.set].stream, kind)
	}
	return Ref(i)
}

func (a *Allocator) countAlloc(b *block, small bool) {
	st := &a.stats
	a.kinds[b.kind] += b.size
	peak := st.AllocatedBytes.All.Peak
	st.Allocation.up(small, 1)
	st.AllocatedBytes.up(small, b.size)
	st.Active.up(small, 1)
	st.ActiveBytes.up(small, b.size)
	st.RequestedBytes.up(small, b.requested)
	if b.size >= a.conf.MaxSplitSize {
		st.OversizeAllocations.up(1)
	}
	if st.AllocatedBytes.All.Peak > peak {
		a.peakKinds = a.kinds
		a.atPeak = a.keepPeak
	}
}

// cut leaves size bytes in block i and stores the rest, which it returns.
func (a *Allocator) cut(i int32, size int64) int32 {
	b := a.blocks[i]
	rest := a.newBlock(b.set, b.addr+size, b.size-size)
	a.blocks[rest].window = b.window
	a.blocks[i].size = size
	a.splice(rest, i, b.next)
	a.store(rest)
	return rest
}

func (a *Allocator) shouldSplit(i int32, size int64, small bool) bool {
	rest := a.blocks[i].size - size
	if small || a.conf.Expandable {
		return rest >= minBlock
	}
	return size < a.conf.MaxSplitSize && rest > smallMax
}

// Free returns an allocation. It becomes reusable at once, unless other
// streams used it: then at the first Malloc after their events have finished.
// Freeing what is not live does nothing but count in Stats.InvalidFrees.
func (a *Allocator) Free(r Ref) {
	if r == 0 {
		return
	}
	if !a.isLive(r) {
		a.stats.InvalidFrees++
		return
	}
	a.discard(int32(r))
	b := &a.blocks[r]
	if b.uses != 0 {
		a.insertEvents(int32(r))
		return
	}
	a.release(int32(r), a.pools[a.sets[b.set].pool].small)
}

// discard ends the caller's hold on a live block.
func (a *Allocator) discard(i int32) {
	if a.atPeak {
		a.leavePeak()
	}
	b := &a.blocks[i]
	small := a.pools[a.sets[b.set].pool].small
	a.kinds[b.kind] -= b.size
	a.stats.Allocation.down(small, 1)
	a.stats.AllocatedBytes.down(small, b.size)
	if b.size >= a.conf.MaxSplitSize {
		a.stats.OversizeAllocations.down(1)
	}
	if a.trace != nil {
		a.trace.add(ActionFreeRequested, b.addr, b.requested, a.sets[b.set].stream, b.kind)
	}
}

func (a *Allocator) isLive(r Ref) bool {
	return r > 0 && int(r) < len(a.blocks) && a.blocks[r].state == live
}

// release makes a block that nothing uses any more reusable.
func (a *Allocator) release(i int32, small bool) {
	b := &a.blocks[i]
	size, requested := b.size, b.requested
	if a.trace != nil {
		a.trace.add(ActionFreeCompleted, b.addr, requested, a.sets[b.set].stream, b.kind)
	}
	var count, bytes int64
	for _, neighbour := range [2]int32{b.prev, b.next} {
		if n := a.merge(i, neighbour, true); n > 0 {
			count--
			bytes -= n
		}
	}
	a.store(i)
	b = &a.blocks[i]
	if b.window == 0 {
		if b.split() {
			count++
			bytes += b.size
		}
		a.stats.InactiveSplit.change(small, count)
		a.stats.InactiveSplitBytes.change(small, bytes)
	}
	a.stats.Active.down(small, 1)
	a.stats.ActiveBytes.down(small, size)
	a.stats.RequestedBytes.down(small, requested)
}
