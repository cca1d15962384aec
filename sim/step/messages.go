package step

import (
	"trainsim/interconnect/nccl"
	"trainsim/sim/code"
)

// messageID returns the machine's number of an action's message.
func (m *machine) messageID(r, local int32) int32 {
	return m.pipelineOf(r)*m.job.Messages + local
}

// rankAt returns the rank of a pipeline rank in r's pipeline.
func (m *machine) rankAt(r, pipelineRank int32) int32 {
	return pipelineRank*int32(m.folding.pipelines) + m.pipelineOf(r)
}

// receive waits for the action's incoming message and, in blocking systems,
// for the message that is still on its way out.
func (m *machine) receive(r int32, a *code.Part) bool {
	if a.Recv < 0 { // the first stage of a model without an embedding
		m.next(r)
		return true
	}
	rs := &m.ranks[r]
	id := m.messageID(r, a.Recv)
	msg := &m.messages[id]
	if m.blocking && !a.RecvLocal && !msg.posted {
		msg.posted = true
		if msg.sent {
			m.transfer(m.rankAt(r, a.From), int32(m.stageOf(r)), id)
		}
	}
	rs.recv = id
	return m.settle(r)
}

// send hands the action's output over. Overlapped sends leave on their own;
// blocking ones wait for their receiver.
func (m *machine) send(r int32, act *code.Action, a *code.Part) bool {
	if a.Send < 0 {
		m.next(r)
		return true
	}
	rs := &m.ranks[r]
	id := m.messageID(r, a.Send)
	msg := &m.messages[id]
	msg.sent = true
	switch {
	case a.SendLocal:
		msg.started, msg.done = m.engine.Now(), true
	case !m.blocking || msg.posted:
		m.transfer(r, a.To, id)
	}
	if m.blocking && !a.SendLocal {
		rs.pending = id
		if !act.Batched {
			return m.settle(r)
		}
	}
	m.next(r)
	return true
}

// settle waits until the rank's open messages are done.
func (m *machine) settle(r int32) bool {
	rs := &m.ranks[r]
	if !m.settled(rs) {
		rs.wait = onMessages
		return false
	}
	m.closeMessages(r)
	return true
}

func (m *machine) settled(rs *rankState) bool {
	return (rs.recv < 0 || m.messages[rs.recv].done) && (rs.pending < 0 || m.messages[rs.pending].done)
}

// closeMessages goes on behind a finished hand-off. Systems that synchronise
// after it make the host wait as well.
func (m *machine) closeMessages(r int32) {
	rs := &m.ranks[r]
	rs.recv, rs.pending = -1, -1
	if m.blocking && m.job.Compiler.Host.SyncP2P {
		rs.host = max(rs.host, m.engine.Now())
	}
	m.next(r)
}

// transfer puts a message on the network.
func (m *machine) transfer(from, toStage, id int32) {
	msg := &m.messages[id]
	msg.started, msg.call = m.engine.Now(), m.sendCall(from, toStage, m.handOffBytes(from, id))
	m.network.Start(&msg.call.Transfer, msg.call.Base, m.id, messageDone, uint32(id))
}

// sendKey is a hand-off of some bytes from an actor to another pipeline rank.
type sendKey struct {
	from, toStage int32
	bytes         int64
}

// sendCall returns the hand-off from a rank to the same place of another stage.
func (m *machine) sendCall(from, toStage int32, bytes int64) nccl.Call {
	key := sendKey{from, toStage, bytes}
	call, ok := m.sends[key]
	if !ok {
		call = m.folding.send(from, toStage, bytes)
		m.sends[key] = call
	}
	return call
}

// handOffBytes is what a micro-batch hands over to a stage: its input, or the
// gradient of its output.
func (m *machine) handOffBytes(from, id int32) int64 {
	p, local := m.job.Program, id%m.job.Messages
	cell := int(local / 2 / m.perPipe)
	rank, chunk := p.Owner(cell/p.Stages(), cell%p.Stages())
	s := &m.job.Stages[rank]
	c := s.Chunks[chunk]
	switch {
	case m.phase.evaluation:
		c = s.EvaluationChunk(chunk)
	case m.job.Dynamic():
		c = m.job.ChunkOfLength(c, m.job.MicrobatchLength(m.replica(from), m.phase.step, local/2%m.perPipe))
	}
	if local%2 == 1 {
		return c.Model.Output
	}
	return c.Model.Input
}

// deliver ends a message's way and wakes whoever waits for it.
func (m *machine) deliver(id int32) {
	m.messages[id].done = true
	from, to := m.endpoints(id)
	m.record.message(m, from, to, id)
	m.wakeForMessage(to, id)
	m.wakeForMessage(from, id)
}

// endpoints returns the sending and the receiving actor of a message.
func (m *machine) endpoints(id int32) (from, to int32) {
	j := m.job
	p := j.Program
	local := id % j.Messages
	backward := local%2 == 1
	cell := int(local / 2 / m.perPipe)
	pipe, stage := cell/p.Stages(), cell%p.Stages()
	other := stage - 1
	if backward {
		other = stage + 1
	}
	toStage, _ := p.Owner(pipe, stage)
	fromStage, _ := p.Owner(pipe, other)
	column := id / j.Messages
	columns := int32(m.folding.pipelines)
	return int32(fromStage)*columns + column, int32(toStage)*columns + column
}

func (m *machine) wakeForMessage(r, id int32) {
	rs := &m.ranks[r]
	if rs.wait != onMessages || (rs.recv != id && rs.pending != id) || !m.settled(rs) {
		return
	}
	m.bookWait(rs, bookPP, m.messages[id].started)
	rs.wait = running
	m.closeMessages(r)
	m.advance(r)
}
