package step

import (
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// stream runs the collectives of one group in order. A collective starts when
// every member has entered it and the one before has finished.
type stream struct {
	queue   []entry // from head on: entered by at least one member
	head    int
	base    uint32 // number of queue[head]
	running bool
	started sim.Time // of the running, or else the last, collective
	ended   sim.Time // of the last one
}

// entry is one collective in a stream's queue.
type entry struct {
	comm    int32
	arrived int32
	async   bool
}

// runCollective enters a collective and waits for it.
func (m *machine) runCollective(r int32, in *code.Instr) bool {
	id, number := m.enter(r, in)
	return m.waitCollective(r, id, number)
}

// startCollective enters a collective and goes on.
func (m *machine) startCollective(r int32, in *code.Instr) {
	rs := &m.ranks[r]
	id, number := m.enter(r, in)
	if in.Slot < code.Slots {
		rs.slotNumber[in.Slot], rs.slotGroup[in.Slot] = number, id
	}
	m.next(r)
}

// waitCollective waits until a group's collective of the number given has finished.
func (m *machine) waitCollective(r int32, id int32, number uint32) bool {
	rs := &m.ranks[r]
	if id < 0 || number < m.streams[id].base {
		m.next(r)
		return true
	}
	rs.wait, rs.waitGroup, rs.waitIndex = onStream, id, number
	return false
}

// waitGroup waits for all that the rank entered on its group's stream.
func (m *machine) waitGroup(r int32, g model.Group) bool {
	rs := &m.ranks[r]
	if rs.entered[g] == 0 {
		m.next(r)
		return true
	}
	return m.waitCollective(r, m.folding.group(g, r), rs.entered[g]-1)
}

// enter adds a rank to its group's next collective and returns its number.
func (m *machine) enter(r int32, in *code.Instr) (groupID int32, number uint32) {
	rs := &m.ranks[r]
	id := m.folding.group(in.Group, r)
	s := &m.streams[id]
	number = rs.entered[in.Group]
	rs.entered[in.Group]++
	at := s.head + int(number-s.base)
	if at == len(s.queue) {
		s.queue = append(s.queue, entry{comm: in.Comm})
	}
	e := &s.queue[at]
	e.arrived++
	e.async = e.async || in.Kind == code.StartCollective
	if at == s.head {
		m.hold(rs, id, 1)
		m.startHead(id)
	}
	return id, number
}

// startHead starts the head of a stream when all members are there.
func (m *machine) startHead(id int32) {
	s := &m.streams[id]
	if s.running || s.head == len(s.queue) || int(s.queue[s.head].arrived) < len(m.folding.ranks[id]) {
		return
	}
	e := &s.queue[s.head]
	s.running, s.started = true, m.engine.Now()
	call := m.folding.call(id, e.comm)
	if e.async {
		m.extendTraffic(id, e)
	}
	m.network.Start(&call.Transfer, call.Base, m.id, streamFinish, uint32(id))
}

func (m *machine) finishCollective(id int32) {
	s, g := &m.streams[id], &m.job.Groups[id]
	e := s.queue[s.head]
	for _, r := range m.folding.ranks[id] {
		rs := &m.ranks[r]
		m.hold(rs, id, -1)
		if rs.recorded >= 0 {
			m.recordCollective(rs, id, e.comm)
		}
	}
	started := s.started
	s.ended = m.engine.Now()
	m.nextCollective(id)
	for _, r := range m.folding.ranks[id] {
		if rs := &m.ranks[r]; rs.wait == onStream && rs.waitGroup == id && rs.waitIndex < s.base {
			m.resumeFromStream(r, g, e.comm, started)
		}
	}
}

// nextCollective moves a stream on to the collective behind the finished one.
func (m *machine) nextCollective(id int32) {
	s, kind := &m.streams[id], m.job.Groups[id].Kind
	s.head++
	s.base++
	s.running = false
	if s.head == len(s.queue) {
		s.queue, s.head = s.queue[:0], 0
		return
	}
	for _, r := range m.folding.ranks[id] {
		if rs := &m.ranks[r]; rs.entered[kind] > s.base {
			m.hold(rs, id, 1)
		}
	}
	m.startHead(id)
}

// recordCollective records a finished collective of a rank. It is exposed for
// as long as the rank's time is booked to its dimension meanwhile: while the rank
// waits for its stream, be it for a later collective, and so for members that are
// late as well; see [machine.resumeFromStream].
func (m *machine) recordCollective(rs *rankState, id, comm int32) {
	s, now := &m.streams[id], m.engine.Now()
	var exposed sim.Time
	if rs.wait == onStream && rs.waitGroup == id {
		switch {
		case !spansStages(m.job.Groups[id].Kind):
			exposed = now - max(rs.clock, s.ended)
		case rs.waitIndex == s.base:
			exposed = now - max(rs.clock, s.started)
		}
	}
	m.record.collective(rs, &m.job.Groups[id], comm, s.started, now, exposed)
}

// resumeFromStream lets a rank go on that waited for a collective. Waiting for
// members on other stages is idle time, like any other wait for a stage.
func (m *machine) resumeFromStream(r int32, g *job.Group, comm int32, started sim.Time) {
	rs := &m.ranks[r]
	b := causeOfDimension(code.Dimensions[g.Kind])
	if spansStages(g.Kind) {
		m.bookWait(rs, b, started)
	} else {
		m.book(rs, b, m.engine.Now())
	}
	rs.wait = running
	if m.job.Config.Host.LaunchBlocking {
		rs.host = max(rs.host, m.engine.Now())
	}
	gap := m.gap(rs.instr(), g)
	m.next(r)
	if gap > 0 {
		m.book(rs, b, m.engine.Now().Plus(gap))
		if rs.recorded >= 0 {
			m.record.expose(rs, comm, gap)
		}
		m.engine.After(gap, m.id, rankResumes, uint32(r))
		return
	}
	m.advance(r)
}

// gap is what a blocking collective costs a rank's GPU beside its own time: two
// changes of stream and, inside of layers, the ranks' unequal arrival.
func (m *machine) gap(in *code.Instr, g *job.Group) sim.Time {
	if in.Time > 0 && (g.Kind == model.TP || g.Kind == model.CP) {
		return in.Time + m.job.Config.Framework.Host.Arrival*sim.Time(len(g.Ranks)-1)
	}
	return in.Time
}

// spansStages reports whether a group has members on several pipeline ranks.
func spansStages(kind model.Group) bool { return kind == model.Embedding || kind == model.World }

// instr is the instruction that the rank is at.
func (rs *rankState) instr() *code.Instr {
	return &rs.code.Code[rs.pc]
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
