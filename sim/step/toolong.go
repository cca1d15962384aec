package step

import (
	"fmt"

	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/code"
)

// slowKernel is longer than any kernel of a sensible GPU takes.
const slowKernel = 100 * sim.Second

// unfinished says why ranks wait for ever: for each other, or for something that
// takes longer than the clock reaches.
func (m *machine) unfinished() error {
	if !m.engine.Overran() {
		return m.deadlock()
	}
	if what, plan := m.slowest(); plan != nil {
		l := m.job.Topology.Links()[plan.Bottleneck]
		return fmt.Errorf("%s over %s takes %w; write a higher cluster.%s", what, l.Name, sim.ErrHorizon, l.Kind.RateKeys())
	}
	if kernel, took := m.job.Compiler.Slowest(); took > slowKernel {
		return fmt.Errorf("the run takes %w, with kernels of %v; write %s", sim.ErrHorizon, took, m.job.Compiler.Faster(kernel))
	}
	return fmt.Errorf("the run takes %w, %v; write fewer steps, passes or micro-batches", sim.ErrHorizon, sim.Horizon)
}

// slowest returns the transfer under way that takes longest alone, nil without.
func (m *machine) slowest() (what string, slowest *nccl.Plan) {
	for id := range m.streams {
		if s := &m.streams[id]; s.running {
			comm := s.queue[s.head].comm
			if p := m.folding.plan(int32(id), comm); slowest == nil || p.Uncontended() > slowest.Uncontended() {
				c := &m.job.Compiler.Comms[comm]
				what, slowest = fmt.Sprintf("%v of %d bytes on the %v group", c.Collective, c.Bytes, c.Group), p
			}
		}
	}
	for i := range m.messages {
		if msg := &m.messages[i]; msg.plan != nil && !msg.done && (slowest == nil || msg.plan.Uncontended() > slowest.Uncontended()) {
			what, slowest = fmt.Sprintf("the hand-off of %d bytes to the next stage", msg.plan.Message), msg.plan
		}
	}
	if slowest != nil && slowest.Bottleneck < 0 {
		return "", nil
	}
	return what, slowest
}

// tooSlow says that a kernel takes too long.
func (m *machine) tooSlow(r int32, in *code.Instr, took sim.Time) error {
	return fmt.Errorf("%s takes %v on rank %d, %w; write %s",
		m.job.Compiler.Names[in.Name], took, m.folding.rank(r), sim.ErrHorizon, m.job.Compiler.Faster(in.Index))
}
