package sim

import (
	"context"
	"errors"
	"fmt"
)

// HandlerID names a registered Handler.
type HandlerID uint16

// Handler is an actor: it receives its own events in the engine's total order.
// An error stops the run and is returned by Run.
type Handler interface {
	Handle(k *Engine, kind uint16, arg uint32) error
}

// Errors that a run can end with.
var (
	// ErrEventLimit reports that the cap set by SetMaxEvents was reached.
	ErrEventLimit = errors.New("event limit reached")
	// ErrLivelock reports that one instant processed more events than any model
	// has: time no longer advances.
	ErrLivelock = errors.New("simulated time does not advance")
	// ErrHorizon reports that something takes longer than the clock reaches.
	ErrHorizon = errors.New("more than simulated time is for")
)

const (
	checkEvery           = 1024
	defaultMaxPerInstant = 50_000_000
)

// Engine advances handlers through simulated time. The zero value is ready.
// One engine is single-threaded; run several engines for several cores.
type Engine struct {
	queue         queue
	now           Time
	seq           uint64
	processed     uint64
	maxEvents     uint64
	maxPerInstant uint64
	instantFrom   uint64 // processed when the clock last advanced
	checkAt       uint64 // processed when the caps and the context are next looked at
	handlers      []Handler
	err           error
	running       bool
	overran       bool // an event lay beyond the Horizon
}

// Register adds a handler and returns its ID. It panics during a run and on
// the 65,537th handler.
func (k *Engine) Register(h Handler) HandlerID {
	if k.running {
		panic("sim: Register during Run")
	}
	if len(k.handlers) > 1<<16-1 {
		panic("sim: more than 65536 handlers")
	}
	k.handlers = append(k.handlers, h)
	return HandlerID(len(k.handlers) - 1)
}

// Reserve makes room for n pending events, so that the queue never grows.
func (k *Engine) Reserve(n int) {
	if cap(k.queue.heap) < n {
		heap := make([]event, len(k.queue.heap), n)
		copy(heap, k.queue.heap)
		k.queue.heap = heap
	}
}

// SetMaxEvents caps the events of the engine's life; 0 means no cap.
func (k *Engine) SetMaxEvents(n uint64) { k.maxEvents, k.checkAt = n, 0 }

// Now returns the present simulated time.
func (k *Engine) Now() Time { return k.now }

// Pending returns how many events wait.
func (k *Engine) Pending() int { return k.queue.len() }

// Processed returns how many events have been handled.
func (k *Engine) Processed() uint64 { return k.processed }

// At schedules an event for dst at time t, behind all that already wait for
// that instant. An event beyond the Horizon never happens, see Overran. It panics
// when t lies in the past or nobody is registered as dst.
func (k *Engine) At(t Time, dst HandlerID, kind uint16, arg uint32) {
	if t < k.now {
		panic(fmt.Sprintf("sim: event kind %d for handler %d at %v, before now %v", kind, dst, t, k.now))
	}
	k.mustKnow(dst)
	if t > Horizon {
		k.overran = true
		return
	}
	e := newEvent(t, k.seq, dst, kind, arg)
	k.seq++
	if t == k.now && k.running {
		k.queue.pushNow(e)
		return
	}
	k.queue.push(e)
}

// After schedules an event d after now.
func (k *Engine) After(d Time, dst HandlerID, kind uint16, arg uint32) {
	k.At(k.now.Plus(d), dst, kind, arg)
}

// Overran reports whether an event lay beyond the Horizon. Whoever then waits
// for something waits for what takes too long.
func (k *Engine) Overran() bool { return k.overran }

// AtEnd schedules an event for this instant, after all normal events of the
// instant, those still to come included.
func (k *Engine) AtEnd(dst HandlerID, kind uint16, arg uint32) {
	k.mustKnow(dst)
	k.queue.push(newEvent(k.now, k.seq|endPhase, dst, kind, arg))
	k.seq++
}

// mustKnow panics on an event for nobody where it is scheduled, not where it
// would be handled.
func (k *Engine) mustKnow(dst HandlerID) {
	if int(dst) >= len(k.handlers) {
		panic(fmt.Sprintf("sim: event for handler %d of %d at %v", dst, len(k.handlers), k.now))
	}
}

// Fail stops the run with err once the present event is handled. The first
// failure wins.
func (k *Engine) Fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// Run handles events until none is pending, a handler fails, a cap is reached
// or ctx is done.
func (k *Engine) Run(ctx context.Context) error { return k.RunUntil(ctx, Forever) }

// RunUntil handles all events at or before t and leaves the clock at the last
// of them, a boundary that is the same on every run. A run that ends for a cap
// or for ctx has lost no event and can go on; a failure is final.
func (k *Engine) RunUntil(ctx context.Context, t Time) error {
	k.running, k.checkAt = true, 0
	defer func() { k.running = false }()
	for k.err == nil {
		next := k.queue.peek()
		if next == nil || next.at > t {
			return nil
		}
		if k.processed >= k.checkAt {
			if err := k.check(ctx, next.at); err != nil {
				return err
			}
		}
		e := k.queue.pop()
		if e.at != k.now {
			k.now, k.instantFrom = e.at, k.processed
		}
		k.processed++
		if err := k.handlers[e.dst()].Handle(k, e.kind(), e.arg()); err != nil {
			k.Fail(err)
		}
	}
	return k.err
}

// check applies the caps and asks ctx before an event at next, and says when
// to check again: at the nearest event count at which one of them can bite.
func (k *Engine) check(ctx context.Context, next Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if k.maxEvents > 0 && k.processed >= k.maxEvents {
		return fmt.Errorf("%w: %d events by %v", ErrEventLimit, k.processed, k.now)
	}
	if next != k.now {
		k.instantFrom = k.processed
	}
	perInstant := k.maxPerInstant
	if perInstant == 0 {
		perInstant = defaultMaxPerInstant
	}
	if n := k.processed - k.instantFrom; n >= perInstant {
		return fmt.Errorf("%w: %d events at %v", ErrLivelock, n, k.now)
	}
	k.checkAt = min(k.processed+checkEvery, k.instantFrom+perInstant)
	if k.maxEvents > 0 {
		k.checkAt = min(k.checkAt, k.maxEvents)
	}
	return nil
}
