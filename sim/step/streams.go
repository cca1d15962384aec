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

// nextCollective moves a stream on to the collective after the finished one.
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
	c := causeOfDimension(code.Dimensions[g.Kind])
	if spansStages(g.Kind) {
		m.bookWait(rs, c, started)
	} else {
		m.book(rs, c, m.engine.Now())
	}
	rs.wait = running
	if m.job.Config.Host.LaunchBlocking {
		rs.host = max(rs.host, m.engine.Now())
	}
	gap := m.gap(rs.instr(), g)
	m.next(r)
	if gap > 0 {
		m.book(rs, c, m.engine.Now().Plus(gap))
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
