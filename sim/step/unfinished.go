package step

import (
	"fmt"
	"strings"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/schedule"
	"trainsim/sim"
)

// unfinished says why ranks wait for ever: for each other, or for something that
// takes longer than the clock reaches.
func (m *machine) unfinished() error {
	if !m.engine.Overran() {
		return m.deadlock()
	}
	what, call := m.slowest()
	if l, ok := call.Limit(m.job.Topology); ok {
		return fmt.Errorf(
			"%s over %s takes %w; write a higher cluster.%s", what, l.Name, sim.ErrHorizon, l.Kind.RateKeys())
	}
	if kernel, took := m.job.Compiler.Slowest(); took > slowKernel {
		return fmt.Errorf(
			"the run takes %w, with kernels of %v; write %s", sim.ErrHorizon, took, m.job.Compiler.Faster(kernel))
	}
	return fmt.Errorf("the run takes %w, %v; write fewer steps, passes or micro-batches", sim.ErrHorizon, sim.Horizon)
}

// deadlock lists who waits for whom.
func (m *machine) deadlock() error {
	var b strings.Builder
	listed := 0
	for r := range m.ranks {
		rs := &m.ranks[r]
		if rs.wait == finished {
			continue
		}
		if listed++; listed > 8 {
			fmt.Fprintf(&b, "\n  ... and %d more", len(m.ranks)-m.done-8)
			break
		}
		name := m.job.Compiler.Names[rs.script[rs.action].Name]
		fmt.Fprintf(
			&b, "\n  rank %d (stage %d) in %s waits for %s", m.folding.rank(int32(r)), m.stageOf(int32(r)), name,
			m.waitsFor(rs),
		)
	}
	return fmt.Errorf("%w at %v: %d of %d ranks are not done%s",
		schedule.ErrDeadlock, m.engine.Now(), len(m.ranks)-m.done, len(m.ranks), b.String())
}

func (m *machine) waitsFor(rs *rankState) string {
	if rs.wait == onStream {
		g := &m.job.Groups[rs.waitGroup]
		return fmt.Sprintf("collective %d of its %s group", rs.waitIndex, g.Kind)
	}
	id := rs.receiving
	if id < 0 || m.messages[id].done {
		id = rs.sending
	}
	if id < 0 {
		return "its next event"
	}
	from, to := m.endpoints(id)
	return fmt.Sprintf("a message from rank %d to rank %d", m.folding.rank(from), m.folding.rank(to))
}

// slowest returns the call under way that takes longest alone; one that takes no
// time without.
func (m *machine) slowest() (what string, slowest nccl.Call) {
	slowest.Plan = &nccl.Plan{Transfer: interconnect.Transfer{Bottleneck: -1}}
	for id := range m.streams {
		if s := &m.streams[id]; s.running {
			comm := s.queue[s.head].comm
			if call := m.folding.call(int32(id), comm); call.Uncontended() > slowest.Uncontended() {
				c := &m.job.Compiler.Comms[comm]
				what, slowest = fmt.Sprintf("%v of %d bytes on the %v group", c.Collective, c.Bytes, c.Group), call
			}
		}
	}
	for i := range m.messages {
		if msg := &m.messages[i]; msg.call.Plan != nil && !msg.done && msg.call.Uncontended() > slowest.Uncontended() {
			what, slowest = fmt.Sprintf("the hand-off of %d bytes to the next stage", msg.call.Message), msg.call
		}
	}
	return what, slowest
}

// slowKernel is longer than any kernel of a sensible GPU takes.
const slowKernel = 100 * sim.Second
