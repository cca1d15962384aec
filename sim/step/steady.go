package step

import (
	"trainsim/sim"
	"trainsim/sim/job"
)

// An asynchronous schedule never flushes, so its step is a window of its
// steady state: from one update of the weights to the one a step later. Without
// the optimizer's barrier it is the longest span of a rank, from the start of
// its first micro-batch to the end of its own update (the zero-bubble papers'
// measure).

// window is what a rank's times were at the window's two ends.
type window struct {
	updates    int
	open       bool
	from, to   causeTimes
	start, end sim.Time
}

// steady returns the step of an asynchronous schedule, the longest window of
// any rank, and makes each rank's times those of its window.
func (m *machine) steady() sim.Time {
	var step sim.Time
	for r := range m.ranks {
		step = max(step, m.ranks[r].window.end-m.ranks[r].window.start)
	}
	for r := range m.ranks {
		rs := &m.ranks[r]
		var sum sim.Time
		for b := range rs.times {
			rs.times[b] = rs.window.to[b] - rs.window.from[b]
			sum += rs.times[b]
		}
		rs.times[causeImbalance] += step - sum
	}
	return step
}

// openWindow begins the window of a rank that starts its step on its own
// account: what it waited for its first micro-batch belongs to no step.
func (rs *rankState) openWindow() {
	w := &rs.window
	w.from = causeTimes{causeWarmup: rs.times[causeWarmup], causePP: rs.times[causePP]}
	w.start = rs.phaseBegan + w.from[causeWarmup] + w.from[causePP]
}

// countUpdate takes note when a rank's update begins or ends the window.
func (m *machine) countUpdate(rs *rankState) {
	w := &rs.window
	w.updates++
	switch w.updates {
	case warmUpdates(m.job):
		w.from, w.start, w.open = rs.times, rs.clock, true
	case warmUpdates(m.job) + updatesPerStep(m.job):
		w.to, w.end, w.open = rs.times, rs.clock, false
	}
}

// updatesPerStep returns how many updates of the weights one step has.
func updatesPerStep(j *job.Job) int {
	if j.Program.Batches > 1 {
		return 1 // 2BW: one a batch
	}
	return j.Config.Schedule.Microbatches
}

// warmUpdates returns after how many updates the steady state is reached.
func warmUpdates(j *job.Job) int {
	if j.Program.Batches > 1 {
		return j.Program.Batches / 2
	}
	return j.Config.Schedule.Microbatches + j.Config.Parallel.PP
}
