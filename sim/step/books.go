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
	bookTP
	bookPP
	bookDP
	bookCP
	bookEP
	bookOptimizer
	bookWarmup    // idle before the first backward
	bookCooldown  // idle behind the last forward
	bookImbalance // idle in between: waiting for a slower stage
	numBooks
)

// books holds the seconds of a rank by cause.
type books [numBooks]sim.Time

var bookOf = [trace.NumKinds]book{
	trace.Forward: bookCompute, trace.Backward: bookCompute, trace.BackwardInput: bookCompute,
	trace.BackwardWeight: bookCompute, trace.Evaluation: bookCompute, trace.Recompute: bookRecompute,
	trace.Optimizer: bookOptimizer, trace.CommTP: bookTP, trace.CommPP: bookPP, trace.CommDP: bookDP,
	trace.CommCP: bookCP, trace.CommEP: bookEP, trace.HostWait: bookHost, trace.Bubble: bookImbalance,
}

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
