package step

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/code"
)

// kernel starts a kernel as soon as the host has launched it. Collectives that
// run beside it hold some of the multiprocessors and of the memory bandwidth.
func (m *machine) kernel(r int32, a *code.Action, in *code.Instr) {
	rs := &m.ranks[r]
	start := m.engine.Now()
	if rs.host > start {
		m.book(rs, causeHost, rs.host)
		start = rs.host
	}
	dur := in.Time
	if rs.heldSMs > 0 {
		dur = m.besideRunning(rs, in, start)
	}
	if m.faults != nil {
		dur = m.faults.slowed(r, start, dur)
	}
	if dur > longestKernel {
		m.engine.Fail(m.tooSlow(r, in, dur))
		return
	}
	rs.beginAction(a, start)
	end := start.Plus(dur)
	m.book(rs, causeOf[in.Cause], end)
	if rs.recorded >= 0 {
		m.record.kernel(rs, a, in, start, end)
	}
	m.next(r)
	if m.job.Config.Host.LaunchBlocking {
		rs.host = end.Plus(m.job.Config.Framework.Host.Blocked)
	}
	m.engine.At(end, m.id, rankResumes, uint32(r))
}

// longestKernel is what no kernel of a real job takes.
const longestKernel = 100_000 * sim.Second

// tooSlow says that a kernel takes too long.
func (m *machine) tooSlow(r int32, in *code.Instr, took sim.Time) error {
	return fmt.Errorf("%s takes %v on rank %d, %w; write %s",
		m.job.Compiler.Names[in.Name], took, m.folding.rank(r), sim.ErrHorizon, m.job.Compiler.Faster(in.Index))
}
