package step

import (
	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/model"
)

// commKind is what CommTotal sums over.
type commKind struct {
	group      model.Group
	collective model.Collective
}

// commTotals sums the collectives by group and kind, each for the recorded
// rank that spent most time in them. Algorithm and bottleneck are those of the
// size that took longest.
func (m *machine) commTotals() []CommTotal {
	var order []commKind
	ids := make(map[commKind][]int32)
	for id, c := range m.job.Compiler.Comms {
		k := commKind{c.Group, c.Collective}
		if ids[k] == nil {
			order = append(order, k)
		}
		ids[k] = append(ids[k], int32(id))
	}
	var out []CommTotal
	for _, k := range order {
		if rd := m.busiest(ids[k]); rd != nil {
			out = append(out, m.commTotal(ids[k], rd))
		}
	}
	return m.addSends(out)
}

// busiest returns the recorded rank with most time in the collectives.
func (m *machine) busiest(ids []int32) *recorded {
	var best *recorded
	var most int64 = -1
	for i := range m.record.recorded {
		rd := &m.record.recorded[i]
		var sum, count int64
		for _, id := range ids {
			sum += int64(rd.comms[id].seconds)
			count += rd.comms[id].count
		}
		if count > 0 && sum > most {
			best, most = rd, sum
		}
	}
	return best
}

func (m *machine) commTotal(ids []int32, rd *recorded) CommTotal {
	first := m.job.Compiler.Comms[ids[0]]
	t := CommTotal{Group: first.Group.String(), Collective: first.Collective.String()}
	longest := ids[0]
	for _, id := range ids {
		s := &rd.comms[id]
		t.Count += s.count
		t.Bytes += s.count * m.job.Compiler.Comms[id].Bytes
		t.Seconds += s.seconds
		t.Exposed += s.exposed
		if s.seconds > rd.comms[longest].seconds {
			longest = id
		}
	}
	call := m.folding.call(m.folding.group(first.Group, rd.rank), longest)
	t.Algorithm, t.Bottleneck = call.Algorithm.String()+"/"+call.Protocol.String(), m.linkName(&call)
	t.perStep(len(m.counted()))
	if t.Seconds > 0 {
		t.BusBandwidth = float64(t.Bytes) / t.Seconds.Seconds() * call.BusFactor
	}
	return t
}

// perStep makes a sum over steps that of one.
func (t *CommTotal) perStep(steps int) {
	n := int64(steps)
	t.Count, t.Bytes = t.Count/n, t.Bytes/n
	t.Seconds, t.Exposed = t.Seconds/sim.Time(n), t.Exposed/sim.Time(n)
}

func (m *machine) linkName(c *nccl.Call) string {
	l, _ := c.Limit(m.job.Topology)
	return l.Name
}

// addSends adds the hand-offs between stages.
func (m *machine) addSends(out []CommTotal) []CommTotal {
	best := -1
	for i := range m.record.recorded {
		s := &m.record.recorded[i].p2p
		if s.count > 0 && (best < 0 || s.seconds > m.record.recorded[best].p2p.seconds) {
			best = i
		}
	}
	if best < 0 {
		return out
	}
	rd := &m.record.recorded[best]
	t := CommTotal{Group: "pp", Collective: model.SendRecv.String(), Count: rd.p2p.count, Bytes: rd.p2p.bytes,
		Seconds: rd.p2p.seconds, Exposed: rd.p2p.exposed}
	t.Algorithm, t.Bottleneck = rd.sent.Algorithm.String()+"/"+rd.sent.Protocol.String(), m.linkName(&rd.sent)
	t.perStep(len(m.counted()))
	if t.Seconds > 0 {
		t.BusBandwidth = float64(t.Bytes) / t.Seconds.Seconds()
	}
	return append(out, t)
}
