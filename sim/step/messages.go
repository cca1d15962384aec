package step

import (
	"trainsim/interconnect/nccl"
	"trainsim/sim/code"
)

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
	rs.receiving = id
	return m.waitMessages(r)
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
		rs.sending = id
		if !act.Batched {
			return m.waitMessages(r)
		}
	}
	m.next(r)
	return true
}

// waitMessages waits until the rank's open messages are done.
func (m *machine) waitMessages(r int32) bool {
	rs := &m.ranks[r]
	if !m.messagesDone(rs) {
		rs.wait = onMessages
		return false
	}
	m.endMessages(r)
	return true
}

// deliver ends a message's way and wakes whoever waits for it.
func (m *machine) deliver(id int32) {
	m.messages[id].done = true
	from, to := m.endpoints(id)
	m.record.message(m, from, to, id)
	m.wakeForMessage(to, id)
	m.wakeForMessage(from, id)
}

func (m *machine) wakeForMessage(r, id int32) {
	rs := &m.ranks[r]
	if rs.wait != onMessages || (rs.receiving != id && rs.sending != id) || !m.messagesDone(rs) {
		return
	}
	m.bookWait(rs, causePP, m.messages[id].started)
	rs.wait = running
	m.endMessages(r)
	m.advance(r)
}

func (m *machine) messagesDone(rs *rankState) bool {
	return (rs.receiving < 0 || m.messages[rs.receiving].done) && (rs.sending < 0 || m.messages[rs.sending].done)
}

// endMessages goes on after a finished hand-off. Systems that synchronise
// after it make the host wait as well.
func (m *machine) endMessages(r int32) {
	rs := &m.ranks[r]
	rs.receiving, rs.sending = -1, -1
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
	cell := int(local / 2 / m.microbatches)
	rank, chunk := p.Owner(cell/p.Stages(), cell%p.Stages())
	s := &m.job.Stages[rank]
	c := s.Chunks[chunk]
	switch {
	case m.phase.evaluation:
		c = s.EvaluationChunk(chunk)
	case m.job.Dynamic():
		c = m.job.ChunkOfLength(c, m.job.MicrobatchLength(m.replica(from), m.phase.step, local/2%m.microbatches))
	}
	if local%2 == 1 {
		return c.Model.Output
	}
	return c.Model.Input
}
