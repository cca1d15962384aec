package memory

// granule is the unit in which a window of the pool is mapped.
func granule(small bool) int64 {
	if small {
		return smallSegment
	}
	return largeSegment
}

// expand maps memory at the end of, or in a hole of, a window of the
// request's pool and stream and returns an idle block, in no set, of at least
// the request's size; 0 when the driver has too little. What was mapped
// before the driver refused stays in the free set.
func (a *Allocator) expand(r *request) int32 {
	i := a.addressSpace(r)
	if i == 0 {
		return 0
	}
	if a.blocks[i].state == unmapped && !a.mapMemory(i, min(a.blocks[i].size, r.size)) {
		return 0
	}
	for a.blocks[i].size < r.size {
		missing := r.size - a.blocks[i].size
		next := a.blocks[i].next
		if next == 0 || !a.mapMemory(next, min(missing, a.blocks[next].size)) {
			return 0
		}
		i = next
	}
	a.unstore(i)
	return i
}

// addressSpace returns where a run of idle and unmapped blocks of the needed
// length begins, at the lowest address; a new window if there is none.
func (a *Allocator) addressSpace(r *request) int32 {
	pieces := &a.sets[r.set].unmapped
	for p := pieces.Begin(); pieces.Valid(p); p = pieces.Next(p) {
		i := pieces.At(p)
		if prev := a.blocks[i].prev; prev != 0 && a.blocks[prev].available() {
			i = prev
		}
		if a.hasRoom(i, r.size) {
			return i
		}
	}
	return a.newWindow(r)
}

func (a *Allocator) hasRoom(i int32, size int64) bool {
	for ; size > 0 && i != 0 && a.blocks[i].available(); i = a.blocks[i].next {
		size -= a.blocks[i].size
	}
	return size <= 0
}

// newWindow reserves addresses for 9/8 of the device's memory; 0 when the
// simulated address space is used up.
func (a *Allocator) newWindow(r *request) int32 {
	size := max(roundUp(a.total+a.total/8, granule(a.pools[r.pool].small)), granule(a.pools[r.pool].small))
	if size >= SegmentBase-a.windowTop {
		return 0
	}
	i := a.newBlock(r.set, a.windowTop, size)
	a.windows = append(a.windows, a.windowTop)
	a.windowTop += roundUp(size, windowStride)
	b := &a.blocks[i]
	b.window, b.state = int32(len(a.windows)), unmapped
	a.sets[r.set].unmapped.Insert(0, b.addr, i)
	return i
}

// mapMemory maps whole granules for size bytes at the beginning of an
// unmapped block and stores the result, merged with idle neighbours.
func (a *Allocator) mapMemory(i int32, size int64) bool {
	b := a.blocks[i]
	s := &a.sets[b.set]
	small := a.pools[s.pool].small
	size = min(roundUp(size, granule(small)), b.size)
	a.work.Maps += int(roundUp(size, granule(small)) / granule(small))
	if size > a.driverFree() {
		return false
	}
	s.unmapped.Remove(0, b.addr)
	if size < b.size {
		rest := a.newBlock(b.set, b.addr+size, b.size-size)
		a.blocks[rest].window, a.blocks[rest].state = b.window, unmapped
		a.blocks[i].size = size
		a.splice(rest, i, b.next)
		s.unmapped.Insert(0, b.addr+size, rest)
	}
	a.merge(i, a.blocks[i].prev, true)
	a.merge(i, a.blocks[i].next, true)
	a.store(i)
	a.stats.ReservedBytes.up(small, size)
	a.stats.NumDeviceAlloc++
	if a.trace != nil {
		a.trace.add(ActionSegmentMap, b.addr, size, s.stream, 0)
	}
	return true
}

// unmap gives back the whole granules within an idle block; what is left at
// its ends stays in the free set. A window without any memory is dropped.
func (a *Allocator) unmap(i int32) {
	b := a.blocks[i]
	s := &a.sets[b.set]
	small := a.pools[s.pool].small
	g := granule(small)
	base := a.windows[b.window-1]
	begin, end := base+roundUp(b.addr-base, g), base+(b.addr+b.size-base)/g*g
	if begin >= end {
		return
	}
	s.free.Remove(b.size, b.addr)
	if begin > b.addr {
		a.leftover(b, b.addr, begin, b.prev, i)
	}
	if end < b.addr+b.size {
		a.leftover(b, end, b.addr+b.size, i, b.next)
	}
	u := &a.blocks[i]
	u.addr, u.size, u.state = begin, end-begin, unmapped
	a.merge(i, a.blocks[i].prev, false)
	a.merge(i, a.blocks[i].next, false)
	a.stats.ReservedBytes.down(small, end-begin)
	a.stats.NumDeviceFree++
	a.work.UnmapCalls++
	a.work.Unmaps += int((end - begin) / g)
	if a.trace != nil {
		a.trace.add(ActionSegmentUnmap, begin, end-begin, s.stream, 0)
	}
	if !a.blocks[i].split() {
		a.recycle(i)
		return
	}
	s.unmapped.Insert(0, a.blocks[i].addr, i)
}

// leftover stores [from, to) of block b as a block between two neighbours.
func (a *Allocator) leftover(b block, from, to int64, prev, next int32) {
	i := a.newBlock(b.set, from, to-from)
	a.blocks[i].window = b.window
	a.splice(i, prev, next)
	a.store(i)
}
