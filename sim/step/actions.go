package step

import (
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/trace"
)

// next moves a rank to the instruction after the present one.
func (m *machine) next(r int32) {
	rs := &m.ranks[r]
	if rs.recorded >= 0 {
		m.record.memory(rs, m.engine.Now())
	}
	rs.pc++
	rs.launched = false
}

func (m *machine) endAction(r int32, a *code.Action) {
	rs := &m.ranks[r]
	if rs.recorded >= 0 && rs.working {
		m.record.action(rs, a, rs.began, rs.clock)
	}
	if a.Parts[0].Microbatch >= 0 && rs.working {
		rs.last = rs.clock
		rs.busy += rs.clock - rs.began - rs.stalled
	}
	rs.stalled = 0
	for _, p := range a.List() {
		if p.Kind == trace.Forward {
			rs.forwardsLeft--
		}
	}
	if a.Update {
		m.countUpdate(rs)
	}
	rs.action++
	rs.code, rs.pc, rs.working = nil, 0, false
}

// beginAction marks the first work of an action.
func (rs *rankState) beginAction(a *code.Action, at sim.Time) {
	if rs.working {
		return
	}
	rs.working, rs.began = true, at
	if a.Parts[0].Microbatch >= 0 && rs.backwardsBegun == 0 && rs.busy == 0 {
		rs.first = at
		rs.openWindow()
	}
	for _, p := range a.List() {
		if p.Kind == trace.Backward || p.Kind == trace.BackwardInput {
			rs.backwardsBegun++
		}
	}
}

func (m *machine) finish(r int32) {
	rs := &m.ranks[r]
	rs.wait = finished
	if m.job.Config.Schedule.NoBarrier && !m.job.Program.Async {
		rs.window.to, rs.window.end = rs.times, rs.clock
	}
	m.done++
	m.end = max(m.end, m.engine.Now())
}
