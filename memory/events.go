package memory

// Events tells an allocator when the work of a stream has finished. An event
// is recorded when a block that other streams used is freed, and asked for at
// the beginning of every later allocation.
type Events interface {
	// Record returns an event behind everything that was queued on the
	// stream so far.
	Record(stream int) int64
	// Done reports whether the event has been reached.
	Done(stream int, event int64) bool
}

// streamUse is an entry of a block's list of streams that used it.
type streamUse struct {
	stream int
	next   int32
}

// event marks the end of a stream's use of a block.
type event struct {
	mark  int64
	block int32
}

// eventQueue holds the events of a stream in the order in which they finish.
type eventQueue struct {
	stream int
	events []event
	head   int // the first event that is not finished
	done   int // events before it are finished, by CompleteEvents
}

// RecordStream says that another stream uses r: after Free, r is not reused
// before what that stream had queued until then has finished. The stream for
// which r was allocated is ignored, and so is a Ref that is not live.
func (a *Allocator) RecordStream(r Ref, stream int) {
	if !a.isLive(r) || a.sets[a.blocks[r].set].stream == stream {
		return
	}
	for u := a.blocks[r].uses; u != 0; u = a.uses[u].next {
		if a.uses[u].stream == stream {
			return
		}
	}
	u := a.freeUse
	if u != 0 {
		a.freeUse = a.uses[u].next
	} else {
		u = int32(len(a.uses))
		a.uses = append(a.uses, streamUse{})
	}
	a.uses[u] = streamUse{stream, a.blocks[r].uses}
	a.blocks[r].uses = u
}

// insertEvents records an event on each stream that used the block, which
// stays out of reach until all of them have finished.
func (a *Allocator) insertEvents(i int32) {
	b := &a.blocks[i]
	b.state = pending
	for b.uses != 0 {
		u := b.uses
		q := a.queue(a.uses[u].stream)
		e := event{block: i}
		if a.source != nil {
			e.mark = a.source.Record(q.stream)
		}
		q.events = append(q.events, e)
		b.events++
		a.waiting++
		b.uses = a.dropUse(u)
	}
}

// dropUse recycles a record of use and returns the next one of its block.
func (a *Allocator) dropUse(u int32) int32 {
	next := a.uses[u].next
	a.uses[u] = streamUse{next: a.freeUse}
	a.freeUse = u
	return next
}

// queue returns the stream's queue; queues are kept by ascending stream.
func (a *Allocator) queue(stream int) *eventQueue {
	lo, hi := 0, len(a.queues)
	for lo < hi {
		if mid := (lo + hi) / 2; a.queues[mid].stream < stream {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(a.queues) || a.queues[lo].stream != stream {
		a.queues = append(a.queues, eventQueue{})
		copy(a.queues[lo+1:], a.queues[lo:])
		a.queues[lo] = eventQueue{stream: stream}
	}
	return &a.queues[lo]
}

// CompleteEvents finishes every event recorded so far on the stream. Blocks
// that waited for them become reusable at the next Malloc.
func (a *Allocator) CompleteEvents(stream int) {
	q := a.queue(stream)
	q.done = len(q.events)
}

// processEvents releases blocks whose events have all finished.
func (a *Allocator) processEvents() {
	for k := range a.queues {
		q := &a.queues[k]
		for q.head < len(q.events) && (q.head < q.done || a.finished(q)) {
			a.pop(q)
		}
	}
}

func (a *Allocator) finished(q *eventQueue) bool {
	return a.source != nil && a.source.Done(q.stream, q.events[q.head].mark)
}

// syncEvents waits for every event.
func (a *Allocator) syncEvents() {
	a.stats.NumSyncAllStreams++
	a.work.Syncs++
	for len(a.parked) > 0 {
		a.unpark(a.parked[0])
	}
	for k := range a.queues {
		for q := &a.queues[k]; q.head < len(q.events); {
			a.pop(q)
		}
	}
}

// pop takes the head of a queue and releases its block if that was the last
// event for which the block waited.
func (a *Allocator) pop(q *eventQueue) {
	i := q.events[q.head].block
	q.head++
	if q.head == len(q.events) {
		q.events, q.head, q.done = q.events[:0], 0, 0
	} else if q.head >= 1024 && 2*q.head >= len(q.events) {
		n := copy(q.events, q.events[q.head:])
		q.events, q.done, q.head = q.events[:n], max(q.done-q.head, 0), 0
	}
	a.waiting--
	b := &a.blocks[i]
	b.events--
	if b.events == 0 {
		a.release(i, a.pools[a.sets[b.set].pool].small)
	}
}

// park frees a block that stays pending until unparked: what a recorded trace
// shows as a request to free that is not completed at once. It returns a
// ticket that tells this parking from later ones of the same Ref.
func (a *Allocator) park(r Ref) uint64 {
	a.discard(int32(r))
	b := &a.blocks[r]
	a.parkings++
	b.state, b.born = pending, a.parkings
	b.events = int32(len(a.parked)) // its place in the list
	a.parked = append(a.parked, int32(r))
	return b.born
}

// isParked reports whether the parking with this ticket still lasts; a flush
// of the cache ends all of them.
func (a *Allocator) isParked(r Ref, ticket uint64) bool {
	b := &a.blocks[r]
	return b.state == pending && b.born == ticket
}

// unpark makes a parked block reusable.
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
