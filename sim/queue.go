package sim

import "math/bits"

// event is one pending wake-up: 24 bytes and no pointer, so that the garbage
// collector never looks into the queue. Three words and not five fields: the
// compiler then keeps an event in registers while it moves through the heap.
type event struct {
	at   Time
	seq  uint64
	what uint64 // arg, kind and dst from the high bits down
}

func newEvent(at Time, seq uint64, dst HandlerID, kind uint16, arg uint32) event {
	return event{at, seq, uint64(arg)<<32 | uint64(kind)<<16 | uint64(dst)}
}

func (e *event) dst() HandlerID { return HandlerID(e.what) }
func (e *event) kind() uint16   { return uint16(e.what >> 16) }
func (e *event) arg() uint32    { return uint32(e.what >> 32) }

// endPhase is the top bit of an event's sequence number: events pushed by
// AtEnd sort behind all normal events of their instant.
const endPhase = uint64(1) << 63

// before is the total order of events: time, then phase, then order of push.
func (e *event) before(o *event) bool {
	return e.at < o.at || (e.at == o.at && e.seq < o.seq)
}

// less returns 1 if e is before o and 0 otherwise, without a branch: the two
// words are compared as one 128-bit number. No event lies before time 0.
func (e *event) less(o *event) int {
	_, borrow := bits.Sub64(e.seq, o.seq, 0)
	_, borrow = bits.Sub64(uint64(e.at), uint64(o.at), borrow)
	return int(borrow)
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
	switch {
	case q.head == len(q.fifo):
		q.fifo, q.head = q.fifo[:0], 0
	case len(q.fifo) == cap(q.fifo):
		q.compact()
	}
	q.fifo = append(q.fifo, e)
}

// compact gives up what was popped before the FIFO grows, so that an instant of
// many events takes the memory of those that wait and not of all of them.
func (q *queue) compact() {
	if 2*q.head >= len(q.fifo) {
		q.fifo, q.head = q.fifo[:copy(q.fifo, q.fifo[q.head:])], 0
	}
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
		if child+4 <= n {
			best += first((*[4]event)(h[child : child+4]))
		} else {
			for c := child + 1; c < n; c++ {
				if h[c].before(&h[best]) {
					best = c
				}
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

// first returns which of four siblings comes first. Their keys are as good as
// random, so a branch would be mispredicted half of the time.
func first(c *[4]event) int {
	a := c[1].less(&c[0])
	b := 2 + c[3].less(&c[2])
	return a + (b-a)&-c[b&3].less(&c[a&3])
}
