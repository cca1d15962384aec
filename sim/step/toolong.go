package step

import (
	"fmt"

	"trainsim/interconnect"
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

// tooSlow says that a kernel takes too long.
func (m *machine) tooSlow(r int32, in *code.Instr, took sim.Time) error {
	return fmt.Errorf("%s takes %v on rank %d, %w; write %s",
		m.job.Compiler.Names[in.Name], took, m.folding.rank(r), sim.ErrHorizon, m.job.Compiler.Faster(in.Index))
}
