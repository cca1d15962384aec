package step

import (
	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// Events that a machine sends to itself.
const (
	rankResumes  uint16 = iota // arg: rank
	streamFinish               // arg: group
	messageDone                // arg: message
)

// machine runs a job on an engine.
type machine struct {
	job         *job.Job
	folding     *folding
	engine      *sim.Engine
	id          sim.HandlerID
	network     *interconnect.Network
	ranks       []rankState
	streams     []stream
	loads       [][]load // by group and collective; nil until used
	messages    []message
	sends       map[sendKey]nccl.Call
	blocking    bool // sends and receives stop the compute stream
	besideTimes map[code.KernelBeside]sim.Time
	faults      *faultState // nil on a healthy cluster
	record      *recorder
	phases      []phase
	phase       *phase                 // the present one
	accounts    []account.RankMemory   // of the stages
	driven      [][]account.DriverWork // by stage: the driver's work in the phase; nil if there is none
	perPipe     int32                  // micro-batches of a pipeline in the phase
	done        int
	began       sim.Time // the phase
	end         sim.Time
	outcomes    []outcome // of the phases so far
	carried     []float64 // bytes by link in the steps that count
}

// message is one hand-off between stages.
type message struct {
	started    sim.Time
	call       nccl.Call // once it is under way
	sent, done bool
	posted     bool // the receiver waits for it (blocking point-to-point only)
}

// waiting says what a rank waits for.
type waiting uint8

const (
	running waiting = iota
	onMessages
	onStream
	finished
)

// rankState is one rank as an actor.
type rankState struct {
	script []code.Action
	code   *code.Block // of the present action
	action int32
	pc     int32
	// phaseBegan is when the present phase did, clock up to where it is booked.
	phaseBegan, clock sim.Time
	host              sim.Time // when the host has launched everything so far
	began             sim.Time // when the present action did its first work
	paid              bool     // the host cost of the present instruction is counted
	working           bool     // the present action has begun
	wait              waiting
	// What it waits for: a collective of a stream, or up to two messages.
	waitGroup int32
	waitIndex uint32
	recv      int32
	pending   int32    // a sent message that must leave before the rank goes on
	busy      int32    // multiprocessors that overlapped collectives hold
	traffic   int64    // bytes a second that those in flight move in device memory
	quiet     sim.Time // when they are over if nothing delays them
	entered   [model.NumGroups]uint32
	slot      [code.Slots]uint32
	slotGroup [code.Slots]int32
	// Phases of the pipeline, for the causes of bubbles.
	forwards  int32 // still to come
	backwards int32 // begun
	books     books
	window    window // of an asynchronous schedule's steady state
	// When micro-batches began and ended, and how long its actions took.
	first, last, busyTime sim.Time
	stalled               sim.Time // waiting for hand-offs within the present action
	recorded              int32    // index in the recorder, -1: not recorded
	driven                int32    // of the driver's work, how much is done
}

func newMachine(j *job.Job, e *sim.Engine, accounts []account.RankMemory, fold bool) *machine {
	c := newFolding(j, fold)
	m := &machine{
		job: j, folding: c, engine: e, network: interconnect.NewNetwork(e, j.Topology),
		ranks: make([]rankState, c.actors()), streams: make([]stream, len(j.Groups)), loads: make([][]load, len(j.Groups)),
		messages:    make([]message, int(j.Messages)*c.pipelines),
		sends:       make(map[sendKey]nccl.Call),
		besideTimes: make(map[code.KernelBeside]sim.Time),
		phases:      phases(j), accounts: accounts,
	}
	m.id = e.Register(m)
	for r := range m.ranks {
		m.ranks[r].recorded = -1
	}
	return m
}

// replica returns the replica that a rank is part of.
func (m *machine) replica(rank int32) int {
	return m.job.Config.Parallel.Coord(int(m.folding.rank(rank))).DP
}

func (m *machine) stageOf(rank int32) int { return int(rank) / m.folding.pipelines }

func (m *machine) pipelineOf(rank int32) int32 { return rank % int32(m.folding.pipelines) }

// start lets every rank begin at the present instant.
func (m *machine) start() {
	for r := range m.ranks {
		m.engine.At(m.engine.Now(), m.id, rankResumes, uint32(r))
	}
}

// Handle receives the machine's events.
func (m *machine) Handle(_ *sim.Engine, kind uint16, arg uint32) error {
	switch kind {
	case rankResumes:
		m.advance(int32(arg))
	case streamFinish:
		m.finishCollective(int32(arg))
	case messageDone:
		m.deliver(int32(arg))
	}
	return nil
}

// advance runs a rank's script until it must wait for something.
func (m *machine) advance(r int32) {
	rs := &m.ranks[r]
	for rs.wait == running {
		if int(rs.action) == len(rs.script) {
			m.finish(r)
			return
		}
		a := &rs.script[rs.action]
		if rs.code == nil {
			rs.code = m.job.BlockOf(a, m.replica(r), m.phase.step)
		}
		if int(rs.pc) == len(rs.code.Code) {
			m.endAction(r, a)
			continue
		}
		if !m.execute(r, a, &rs.code.Code[rs.pc]) {
			return
		}
	}
}

func (m *machine) finish(r int32) {
	rs := &m.ranks[r]
	rs.wait = finished
	if m.job.Config.Schedule.NoBarrier && !m.job.Program.Async {
		rs.window.to, rs.window.end = rs.books, rs.clock
	}
	m.done++
	m.end = max(m.end, m.engine.Now())
}

// next moves a rank to the instruction behind the present one.
func (m *machine) next(r int32) {
	rs := &m.ranks[r]
	if rs.recorded >= 0 {
		m.record.memory(rs, m.engine.Now())
	}
	rs.pc++
	rs.paid = false
}

func (m *machine) endAction(r int32, a *code.Action) {
	rs := &m.ranks[r]
	if rs.recorded >= 0 && rs.working {
		m.record.action(rs, a, rs.began, rs.clock)
	}
	if a.Parts[0].Microbatch >= 0 && rs.working {
		rs.last = rs.clock
		rs.busyTime += rs.clock - rs.began - rs.stalled
	}
	rs.stalled = 0
	for _, p := range a.List() {
		if p.Kind == trace.Forward {
			rs.forwards--
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
	if a.Parts[0].Microbatch >= 0 && rs.backwards == 0 && rs.busyTime == 0 {
		rs.first = at
		rs.openWindow()
	}
	for _, p := range a.List() {
		if p.Kind == trace.Backward || p.Kind == trace.BackwardInput {
			rs.backwards++
		}
	}
}

// execute runs one instruction; false means that the rank goes on later.
func (m *machine) execute(r int32, a *code.Action, in *code.Instr) bool {
	rs := &m.ranks[r]
	if !rs.paid {
		rs.host = rs.host.Plus(in.HostTime)
		rs.paid = true
		if m.driven != nil {
			m.payDriver(rs, m.stageOf(r))
		}
	}
	now := m.engine.Now()
	if in.Kind == code.RunKernel {
		m.kernel(r, a, in)
		return false
	}
	if rs.host > now && in.Kind != code.SyncHost && in.Kind != code.WaitSlot && in.Kind != code.WaitCollective && in.Kind != code.WaitGroup {
		m.book(rs, bookHost, rs.host)
		m.engine.At(rs.host, m.id, rankResumes, uint32(r))
		return false
	}
	switch in.Kind {
	case code.RunCollective:
		rs.beginAction(a, now)
		return m.collect(r, in)
	case code.StartCollective:
		m.async(r, in)
	case code.WaitSlot:
		return m.await(r, rs.slotGroup[in.Slot], rs.slot[in.Slot])
	case code.WaitCollective:
		return m.await(r, m.folding.group(in.Group, r), uint32(in.Index))
	case code.WaitGroup:
		return m.drain(r, in.Group)
	case code.Receive:
		return m.receive(r, &a.Parts[in.Part])
	case code.Send:
		return m.send(r, a, &a.Parts[in.Part])
	case code.SyncHost:
		rs.host = max(rs.host, now.Plus(in.HostTime))
		m.next(r)
	}
	return true
}

// longestKernel is what no kernel of a real job takes.
const longestKernel = 100_000 * sim.Second

// beside returns a kernel's time beside collectives.
func (m *machine) beside(key code.KernelBeside) sim.Time {
	t, ok := m.besideTimes[key]
	if !ok {
		t = m.job.Compiler.TimeBeside(key)
		m.besideTimes[key] = t
	}
	return t
}

// besideRunning returns the time of a kernel that starts beside the overlapped
// collectives of its rank. For what is left of it when they are over it gets the
// memory's full bandwidth back and, where its blocks or pieces wait in line, the
// multiprocessors.
func (m *machine) besideRunning(rs *rankState, in *code.Instr, start sim.Time) sim.Time {
	dur := m.beside(code.KernelBeside{Kernel: in.Index, SMs: rs.busy, Traffic: rs.traffic})
	shared := max(rs.quiet-start, 0)
	if shared >= dur {
		return dur
	}
	free := in.Time
	if in.Pieces > 1 {
		return code.PiecesBeside(free, dur, shared, in.Pieces)
	}
	if !m.job.Compiler.Queues(in.Index) {
		free = m.beside(code.KernelBeside{Kernel: in.Index, SMs: rs.busy})
	}
	return code.PartlyBeside(free, dur, shared)
}

// kernel starts a kernel as soon as the host has launched it. Collectives that
// run beside it hold some of the multiprocessors and of the memory bandwidth.
func (m *machine) kernel(r int32, a *code.Action, in *code.Instr) {
	rs := &m.ranks[r]
	start := m.engine.Now()
	if rs.host > start {
		m.book(rs, bookHost, rs.host)
		start = rs.host
	}
	dur := in.Time
	if rs.busy > 0 {
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
	m.book(rs, bookOf[in.Cause], end)
	if rs.recorded >= 0 {
		m.record.kernel(rs, a, in, start, end)
	}
	m.next(r)
	if m.job.Config.Host.LaunchBlocking {
		rs.host = end.Plus(m.job.Config.Framework.Host.Blocked)
	}
	m.engine.At(end, m.id, rankResumes, uint32(r))
}
