package step

import (
	"trainsim/sim"
	"trainsim/sim/trace"
)

// book is a cause that a rank's time is booked to.
type book uint8

const (
	bookCompute book = iota
	bookRecompute
	bookHost
	bookComm // exposed communication of the first dimension; the others follow
)

// Causes behind the communication.
const (
	bookOptimizer = bookComm + book(trace.NumDimensions) + iota
	bookWarmup    // idle before the first backward
	bookCooldown  // idle behind the last forward
	bookImbalance // idle in between: waiting for a slower stage
	numBooks

	bookPP = bookComm + book(trace.PP) // hand-offs between stages, which belong to no group
)

// bookFor is the cause that a dimension's exposed communication is booked to.
func bookFor(d trace.Dimension) book { return bookComm + book(d) }

// books holds the seconds of a rank by cause.
type books [numBooks]sim.Time

// bookOf is the cause that the time of each kind of span is booked to.
var bookOf = func() (of [trace.NumKinds]book) {
	for _, k := range []trace.Kind{
		trace.Forward, trace.Backward, trace.BackwardInput, trace.BackwardWeight, trace.Evaluation,
	} {
		of[k] = bookCompute
	}
	for d := range trace.NumDimensions {
		of[d.Kind()] = bookFor(d)
	}
	of[trace.Recompute], of[trace.Optimizer] = bookRecompute, bookOptimizer
	of[trace.HostWait], of[trace.Bubble] = bookHost, bookImbalance
	return of
}()

// book books a rank's time from its clock up to until.
func (m *machine) book(rs *rankState, b book, until sim.Time) {
	rs.books[b] += until - rs.clock
	rs.clock = until
}

// bookIdle books waiting for another stage, by the phase of the pipeline that
// the rank is in.
func (m *machine) bookIdle(rs *rankState, until sim.Time) {
	if until <= rs.clock {
		return
	}
	b := bookImbalance
	switch {
	case rs.backwards == 0:
		b = bookWarmup
	case rs.forwards == 0:
		b = bookCooldown
	}
	if rs.recorded >= 0 {
		m.record.idle(rs, rs.clock, until)
	}
	m.book(rs, b, until)
}

// bookWait books a wait that ends now for something that got under way at
// started: idle until then, communication from then on.
func (m *machine) bookWait(rs *rankState, b book, started sim.Time) {
	if rs.working {
		rs.stalled += m.engine.Now() - rs.clock
	}
	m.bookIdle(rs, min(started, m.engine.Now()))
	m.book(rs, b, m.engine.Now())
}
