package memory

import (
	"fmt"
	"math"
)

// SegmentBase is where the simulated addresses of cudaMalloc segments begin;
// they follow each other and none is used again.
const SegmentBase = int64(1) << 62

// windowStride is how far apart the windows of expandable segments begin, the
// first at one stride (of devices below 910 GiB; larger ones take several).
const windowStride = int64(1) << 40

// driverFree returns what cudaMemGetInfo would call free, in bytes.
func (a *Allocator) driverFree() int64 {
	return max(a.capacity-a.external-a.Reserved(), 0)
}

// TakeExternal takes memory straight from the driver, as NCCL, cuDNN and the
// CUDA context do. It reports false, and takes nothing, when the driver has
// too little: such a caller does not make the allocator release its cache.
// Negative bytes give memory back.
func (a *Allocator) TakeExternal(bytes int64) bool {
	if bytes > a.driverFree() || bytes < -a.external {
		return false
	}
	a.external += bytes
	return true
}

func errFraction(x float64) error {
	return fmt.Errorf("memory fraction %g is outside the range; write a number from 0.0 to 1.0", x)
}

// newMemory asks the driver for memory and returns a block, in no set, of at
// least the request's size; 0 when the limit or the driver forbids it.
func (a *Allocator) newMemory(r *request, retry bool) int32 {
	if retry {
		a.stats.NumAllocRetries++
	}
	size := segmentSize(r.size)
	if a.limit >= 0 && a.Reserved()+size > a.limit {
		return 0
	}
	if a.conf.Expandable {
		return a.expand(r)
	}
	a.work.Mallocs++
	if size > a.driverFree() || size > math.MaxInt64-a.segTop {
		return 0
	}
	return a.newSegment(r, size)
}

func (a *Allocator) newSegment(r *request, size int64) int32 {
	small := a.pools[r.pool].small
	i := a.newBlock(r.set, a.segTop, size)
	a.segTop += size
	a.stats.Segment.up(small, 1)
	a.stats.ReservedBytes.up(small, size)
	if size >= a.conf.MaxSplitSize {
		a.stats.OversizeSegments.up(1)
	}
	a.stats.NumDeviceAlloc++
	if a.trace != nil {
		a.trace.add(ActionSegmentAlloc, a.blocks[i].addr, size, a.sets[r.set].stream, 0)
	}
	return i
}

// releaseSegment gives an idle whole segment back to the driver.
func (a *Allocator) releaseSegment(i int32) {
	b := a.blocks[i]
	s := &a.sets[b.set]
	small := a.pools[s.pool].small
	a.stats.Segment.down(small, 1)
	a.stats.ReservedBytes.down(small, b.size)
	if b.size >= a.conf.MaxSplitSize {
		a.stats.OversizeSegments.down(1)
	}
	a.stats.NumDeviceFree++
	a.work.Frees++
	if a.trace != nil {
		a.trace.add(ActionSegmentFree, b.addr, b.size, s.stream, 0)
	}
	s.free.Remove(b.size, b.addr)
	a.recycle(i)
}

// collectGarbage releases the cached large segments that were not used for
// the longest time until the reserve is below the threshold. A pass releases
// everything that is at least as old as the average.
func (a *Allocator) collectGarbage() {
	target := a.Reserved() - a.collectFloor()
	if target <= 0 {
		return
	}
	var age uint64
	var candidates []int32
	for _, i := range a.poolBlocks(largePool) {
		if b := &a.blocks[i]; !b.split() && b.window == 0 {
			candidates = append(candidates, i)
			age += a.age(i)
		}
	}
	for freed := int64(1); target > 0 && freed > 0 && len(candidates) > 0; {
		freed, candidates = a.collectPass(candidates, &age)
		target -= freed
	}
}

// collectFloor is the reserve above which garbage is collected.
func (a *Allocator) collectFloor() int64 { return int64(a.conf.GCThreshold * float64(a.limit)) }

// collectPass releases the candidates of at least average age and returns
// what they held and the candidates that are left.
func (a *Allocator) collectPass(candidates []int32, age *uint64) (freed int64, left []int32) {
	threshold := float64(*age) / float64(len(candidates))
	for _, i := range candidates {
		if float64(a.age(i)) < threshold {
			left = append(left, i)
			continue
		}
		freed += a.blocks[i].size
		*age -= a.age(i)
		a.releaseSegment(i)
	}
	return freed, left
}

// age counts the pool's searches since the block became idle.
func (a *Allocator) age(i int32) uint64 {
	b := &a.blocks[i]
	return a.pools[a.sets[b.set].pool].searches - b.born
}

// poolBlocks lists the idle blocks of a pool by stream, size and address. The
// list is valid until the next call.
func (a *Allocator) poolBlocks(p int32) []int32 {
	a.scratch = a.scratch[:0]
	for _, s := range a.pools[p].order {
		a.scratch = a.sets[s].free.Append(a.scratch)
	}
	return a.scratch
}

// releaseAvailable makes room for one request by releasing cached oversize
// blocks of its pool and stream: the smallest that is large enough, or else
// several from the largest down. It reports whether enough was released.
func (a *Allocator) releaseAvailable(r *request) bool {
	if a.conf.MaxSplitSize == math.MaxInt64 {
		return false
	}
	want := max(r.size, a.conf.MaxSplitSize)
	free := &a.sets[r.set].free
	p := free.LowerBound(want, 0)
	if free.Valid(p) {
		if i := free.At(p); a.blocks[i].window == 0 {
			a.releaseSegment(i)
			return true
		}
	}
	a.scratch = a.scratch[:0]
	for {
		var ok bool
		if p, ok = free.Prev(p); !ok || a.blocks[free.At(p)].size < a.conf.MaxSplitSize {
			break
		}
		a.scratch = append(a.scratch, free.At(p))
	}
	var released int64
	for _, i := range a.scratch {
		if released >= want {
			break
		}
		if b := &a.blocks[i]; b.window == 0 {
			released += b.size
			a.releaseSegment(i)
		}
	}
	return released >= want
}

// EmptyCache is torch.cuda.empty_cache: it waits for all events and gives
// every cached segment and granule back to the driver.
func (a *Allocator) EmptyCache() { a.releaseCached() }

func (a *Allocator) releaseCached() {
	a.syncEvents()
	a.releasePool(largePool)
	a.releasePool(smallPool)
	for i := range a.privates {
		if a.privates[i].abandoned {
			a.releasePool(a.privates[i].base + smallPool)
			a.releasePool(a.privates[i].base + largePool)
		}
	}
}

// releasePool gives back the whole segments of a pool and then whatever
// granules lie within idle expandable blocks.
func (a *Allocator) releasePool(p int32) {
	expandable := 0
	list := a.poolBlocks(p)
	for _, i := range list {
		switch b := &a.blocks[i]; {
		case b.window != 0:
			list[expandable] = i
			expandable++
		case !b.split():
			a.releaseSegment(i)
		}
	}
	for _, i := range list[:expandable] {
		a.unmap(i)
	}
}
