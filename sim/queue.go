package sim

// event is one pending wake-up: 24 bytes and no pointer, so that the garbage
// collector never looks into the queue.
type event struct {
	at   Time
	seq  uint64
	dst  HandlerID
	kind uint16
	arg  uint32
}

// endPhase is the top bit of an event's sequence number: events pushed by
// AtEnd sort behind all normal events of their instant.
const endPhase = uint64(1) << 63

// before is the total order of events: time, then phase, then order of push.
func (e *event) before(o *event) bool {
	return e.at < o.at || (e.at == o.at && e.seq < o.seq)
}

// queue is a 4-ary heap with a FIFO for events of the present instant in front
// of it. Dependency releases take no time, so a large part of all events goes
// through the FIFO and never touches the heap.
type queue struct {
	heap []event
	fifo []event
	head int
}

func (q *queue) len() int { return len(q.heap) + len(q.fifo) - q.head }

// pushNow appends an event of the present instant. The caller guarantees that
// every event in the FIFO carries that same instant and a smaller seq.
func (q *queue) pushNow(e event) {
	if q.head == len(q.fifo) {
		q.fifo, q.head = q.fifo[:0], 0
	}
	q.fifo = append(q.fifo, e)
}

// push sifts a new event up through a hole.
func (q *queue) push(e event) {
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) >> 2
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// peek returns the next event, or nil when none is pending.
func (q *queue) peek() *event {
	if q.head < len(q.fifo) {
		f := &q.fifo[q.head]
		if len(q.heap) == 0 || f.before(&q.heap[0]) {
			return f
		}
	}
	if len(q.heap) == 0 {
		return nil
	}
	return &q.heap[0]
}

// pop removes the next event; the queue must not be empty.
func (q *queue) pop() event {
	if q.head < len(q.fifo) {
		f := &q.fifo[q.head]
		if len(q.heap) == 0 || f.before(&q.heap[0]) {
			q.head++
			return *f
		}
	}
	return q.popHeap()
}

// popHeap takes the root and sifts the last event down from the hole it leaves.
func (q *queue) popHeap() event {
	h := q.heap
	top := h[0]
	n := len(h) - 1
	last := h[n]
	q.heap = h[:n]
	h = q.heap
	if n == 0 {
		return top
	}
	i := 0
	for {
		child := i<<2 + 1
		if child >= n {
			break
		}
		best := child
		for c, end := child+1, min(child+4, n); c < end; c++ {
			if h[c].before(&h[best]) {
				best = c
			}
		}
		if !h[best].before(&last) {
			break
		}
		h[i] = h[best]
		i = best
	}
	h[i] = last
	return top
}
