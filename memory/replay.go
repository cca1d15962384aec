package memory

// What the replay of a recording needs of an allocator beyond allocating and
// freeing: a recording shows when each free was completed, and when memory was
// given back.

// RequestFree frees r but keeps its block pending until CompleteFree, as a
// recording shows a block that waits for events of other streams. The ticket
// tells this request from later ones for the same Ref; it is never 0. r must be
// live.
func (a *Allocator) RequestFree(r Ref) (ticket uint64) {
	a.discard(int32(r))
	b := &a.blocks[r]
	a.parkings++
	b.state, b.born = pending, a.parkings
	b.events = int32(len(a.parked)) // its place in the list
	a.parked = append(a.parked, int32(r))
	return b.born
}

// CompleteFree makes the block of a request reusable. It does nothing once a
// flush of the cache, which waits for all events, has done so.
func (a *Allocator) CompleteFree(r Ref, ticket uint64) {
	if b := &a.blocks[r]; b.state == pending && b.born == ticket {
		a.unpark(int32(r))
	}
}

// unpark makes a block that was requested to be freed reusable.
func (a *Allocator) unpark(i int32) {
	b := &a.blocks[i]
	last := len(a.parked) - 1
	moved := a.parked[last]
	a.parked[b.events] = moved
	a.blocks[moved].events = b.events
	a.parked = a.parked[:last]
	b.events = 0
	for ; b.uses != 0; b.uses = a.dropUse(b.uses) {
	}
	a.release(i, a.pools[a.sets[b.set].pool].small)
}

// Cached reports whether a request of the default pool would be served without
// the driver.
func (a *Allocator) Cached(size int64, stream int) bool {
	if size <= 0 || size >= maxRequest {
		return false
	}
	p, rounded := int32(smallPool), a.conf.round(size)
	if rounded > smallMax {
		p = largePool
	}
	_, ok := a.find(&a.sets[a.setFor(p, stream)].free, rounded)
	return ok
}

// MakesRoom reports whether the settings make an allocator that has reserved
// this much give back cached memory before it asks the driver for a request of
// size bytes: it collects garbage, or the request would exceed its limit.
func (a *Allocator) MakesRoom(size, reserved int64) bool {
	if a.collecting() && reserved > a.collectFloor() {
		return true
	}
	return a.limit >= 0 && reserved+segmentSize(a.conf.round(size)) > a.limit
}
