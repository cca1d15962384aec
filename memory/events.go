package memory

// streamUse is an entry of a block's list of streams that used it.
type streamUse struct {
	stream int
	next   int32
}

// eventQueue holds the blocks that wait for events of a stream, in the order in
// which the events finish.
type eventQueue struct {
	stream int
	blocks []int32
	head   int // the first block that still waits
	done   int // events before it have finished
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
		q.blocks = append(q.blocks, i)
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
	q.done = len(q.blocks)
}

// processEvents releases blocks whose events have all finished.
func (a *Allocator) processEvents() {
	for k := range a.queues {
		for q := &a.queues[k]; q.head < q.done; {
			a.pop(q)
		}
	}
}

// syncEvents waits for every event.
func (a *Allocator) syncEvents() {
	a.stats.NumSyncAllStreams++
	a.work.Syncs++
	for len(a.parked) > 0 {
		a.unpark(a.parked[0])
	}
	for k := range a.queues {
		for q := &a.queues[k]; q.head < len(q.blocks); {
			a.pop(q)
		}
	}
}

// pop takes the head of a queue and releases its block if that was the last
// event for which the block waited.
func (a *Allocator) pop(q *eventQueue) {
	i := q.blocks[q.head]
	q.head++
	if q.head == len(q.blocks) {
		q.blocks, q.head, q.done = q.blocks[:0], 0, 0
	} else if q.head >= 1024 && 2*q.head >= len(q.blocks) {
		n := copy(q.blocks, q.blocks[q.head:])
		q.blocks, q.done, q.head = q.blocks[:n], max(q.done-q.head, 0), 0
	}
	a.waiting--
	b := &a.blocks[i]
	b.events--
	if b.events == 0 {
		a.release(i, a.pools[a.sets[b.set].pool].small)
	}
}
