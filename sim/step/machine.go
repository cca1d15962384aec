package step

import (
	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/code"
	"trainsim/sim/job"
)

// machine runs a job on an engine.
type machine struct {
	job          *job.Job
	folding      *folding
	engine       *sim.Engine
	id           sim.HandlerID
	network      *interconnect.Network
	ranks        []rankState
	streams      []stream
	loads        [][]load // by group and collective; nil until used
	messages     []message
	sends        map[sendKey]nccl.Call
	blocking     bool // sends and receives stop the compute stream
	besideTimes  map[code.KernelBeside]sim.Time
	faults       *faultState // nil on a healthy cluster
	record       *recorder
	phases       []phase
	phase        *phase                 // the present one
	accounts     []account.RankMemory   // of the stages
	driver       [][]account.DriverWork // by stage: the driver's work in the phase; nil if there is none
	microbatches int32                  // micro-batches of a pipeline in the phase
	done         int
	began        sim.Time // the phase
	end          sim.Time
	outcomes     []outcome // of the phases so far
	carried      []float64 // bytes by link in the steps that count
}

// sendKey is a hand-off of some bytes from an actor to another pipeline rank.
type sendKey struct {
	from, toStage int32
	bytes         int64
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

// execute runs one instruction; false means that the rank goes on later.
func (m *machine) execute(r int32, a *code.Action, in *code.Instr) bool {
	rs := &m.ranks[r]
	if !rs.launched {
		rs.host = rs.host.Plus(in.HostTime)
		rs.launched = true
		if m.driver != nil {
			m.chargeDriver(rs, m.stageOf(r))
		}
	}
	now := m.engine.Now()
	if in.Kind == code.RunKernel {
		m.kernel(r, a, in)
		return false
	}
	if rs.host > now && in.Kind.Launches() {
		m.book(rs, causeHost, rs.host)
		m.engine.At(rs.host, m.id, rankResumes, uint32(r))
		return false
	}
	switch in.Kind {
	case code.RunCollective:
		rs.beginAction(a, now)
		return m.runCollective(r, in)
	case code.StartCollective:
		m.startCollective(r, in)
	case code.WaitSlot:
		return m.waitCollective(r, rs.slotGroup[in.Slot], rs.slotNumber[in.Slot])
	case code.WaitCollective:
		return m.waitCollective(r, m.folding.group(in.Group, r), uint32(in.Index))
	case code.WaitGroup:
		return m.waitGroup(r, in.Group)
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
