package step

import (
	"trainsim/sim"
	"trainsim/sim/trace"
)

// cause is a cause that a rank's time is booked to.
type cause uint8

const (
	causeCompute cause = iota
	causeRecompute
	causeHost
	causeComm // exposed communication of the first dimension; the others follow
)

// Causes after those of communication.
const (
	causeOptimizer = causeComm + cause(trace.NumDimensions) + iota
	causeWarmup    // idle before the first backward
	causeCooldown  // idle after the last forward
	causeImbalance // idle in between: waiting for a slower stage
	numCauses

	causePP = causeComm + cause(trace.PP) // hand-offs between stages, which belong to no group
)

// causeTimes is a rank's time by cause.
type causeTimes [numCauses]sim.Time

// book books a rank's time from its clock up to until.
func (m *machine) book(rs *rankState, c cause, until sim.Time) {
	rs.times[c] += until - rs.clock
	rs.clock = until
}

// bookIdle books waiting for another stage, by the phase of the pipeline that
// the rank is in.
func (m *machine) bookIdle(rs *rankState, until sim.Time) {
	if until <= rs.clock {
		return
	}
	c := causeImbalance
	switch {
	case rs.backwardsBegun == 0:
		c = causeWarmup
	case rs.forwardsLeft == 0:
		c = causeCooldown
	}
	if rs.recorded >= 0 {
		m.record.idle(rs, rs.clock, until)
	}
	m.book(rs, c, until)
}

// bookWait books a wait that ends now for something that got under way at
// started: idle until then, communication from then on.
func (m *machine) bookWait(rs *rankState, c cause, started sim.Time) {
	if rs.working {
		rs.stalled += m.engine.Now() - rs.clock
	}
	m.bookIdle(rs, min(started, m.engine.Now()))
	m.book(rs, c, m.engine.Now())
}

// causeOf is the cause that the time of each kind of span is booked to.
var causeOf = func() (of [trace.NumKinds]cause) {
	for _, k := range []trace.Kind{
		trace.Forward, trace.Backward, trace.BackwardInput, trace.BackwardWeight, trace.Evaluation,
	} {
		of[k] = causeCompute
	}
	for d := range trace.NumDimensions {
		of[d.Kind()] = causeOfDimension(d)
	}
	of[trace.Recompute], of[trace.Optimizer] = causeRecompute, causeOptimizer
	of[trace.HostWait], of[trace.Bubble] = causeHost, causeImbalance
	return of
}()

// causeOfDimension is the cause that a dimension's exposed communication is booked to.
func causeOfDimension(d trace.Dimension) cause { return causeComm + cause(d) }
