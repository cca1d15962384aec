package step

import (
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// besideRunning returns the time of a kernel that starts beside the overlapped
// collectives of its rank. For what is left of it when they are over it gets the
// memory's full bandwidth back and, where its blocks or pieces wait in line, the
// multiprocessors.
func (m *machine) besideRunning(rs *rankState, in *code.Instr, start sim.Time) sim.Time {
	dur := m.beside(code.KernelBeside{Kernel: in.Index, SMs: rs.heldSMs, Traffic: rs.memoryTraffic})
	shared := max(rs.trafficEnds-start, 0)
	if shared >= dur {
		return dur
	}
	free := in.Time
	if in.Pieces > 1 {
		return code.PiecesBeside(free, dur, shared, in.Pieces)
	}
	if !m.job.Compiler.Queues(in.Index) {
		free = m.beside(code.KernelBeside{Kernel: in.Index, SMs: rs.heldSMs})
	}
	return code.PartlyBeside(free, dur, shared)
}

// beside returns a kernel's time beside collectives.
func (m *machine) beside(key code.KernelBeside) sim.Time {
	t, ok := m.besideTimes[key]
	if !ok {
		t = m.job.Compiler.TimeBeside(key)
		m.besideTimes[key] = t
	}
	return t
}

// hold lets an overlapped collective at the head of a stream take (sign 1) or
// give back (-1) a rank's multiprocessors, one a channel, and memory bandwidth.
// It holds the multiprocessors from its launch on, also while it waits for other
// members; of the memory it takes, for as long as it needs alone from then on,
// what it moves at that rate. Ranks that enter at one instant are thus alike,
// whoever is the last.
func (m *machine) hold(rs *rankState, id, sign int32) {
	s := &m.streams[id]
	e := &s.queue[s.head]
	if !e.async {
		return
	}
	rs.heldSMs += sign * int32(m.folding.call(id, e.comm).Channels)
	l := m.load(id, e.comm)
	rs.memoryTraffic += int64(sign) * l.traffic
	if sign > 0 {
		rs.trafficEnds = max(rs.trafficEnds, m.engine.Now().Plus(l.took))
	}
}

// extendTraffic notes that an overlapped collective, which starts now, moves data
// through its members' memory for as long as it takes alone.
func (m *machine) extendTraffic(id int32, e *entry) {
	over := m.engine.Now().Plus(m.load(id, e.comm).took)
	for _, r := range m.folding.ranks[id] {
		m.ranks[r].trafficEnds = max(m.ranks[r].trafficEnds, over)
	}
}

// load is what a collective does to the memory of its members, alone on its links.
type load struct {
	took    sim.Time
	traffic int64 // bytes a second
}

// load returns that of a group's collective; it is worked out once.
func (m *machine) load(id, comm int32) load {
	if m.loads[id] == nil {
		m.loads[id] = make([]load, len(m.job.Compiler.Comms))
	}
	l := &m.loads[id][comm]
	if l.took == 0 {
		plan := m.job.Groups[id].Plan(m.job.Compiler.Comms, comm)
		l.took = plan.Uncontended()
		l.traffic = int64(plan.MemoryRate() * unbuffered(m.job, id, comm))
	}
	return *l
}

// unbuffered is the part of NCCL's memory traffic that a collective has which
// tensor-parallel overlap cuts into pieces: those of an all-gather go straight
// from a rank's buffer into its peers' (Transformer Engine's user buffers), which
// leaves one read and one write of NCCL's three passes.
func unbuffered(j *job.Job, id, comm int32) float64 {
	c := &j.Compiler.Comms[comm]
	if j.Config.Parallel.OverlapTP && j.Groups[id].Kind == model.TP && c.Collective == model.AllGather {
		return 2.0 / 3
	}
	return 1
}
