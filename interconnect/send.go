package interconnect

import (
	"trainsim/sim"
	"trainsim/sim/gpu/generation"
)

// sendKey names what the route of a message depends on.
type sendKey struct {
	from, to int32
	level    PathType
	ideal    bool
}

// sendWay is a route with what a message over it costs.
type sendWay struct {
	traffic traffic
	latency float64 // microseconds
	limit   float64 // bytes a second; 0 for none
	direct  *generation.DirectFit
	bus     float64 // GB/s
}

// SendPlan returns the transfer of a point-to-point message between devices,
// as ncclSend and ncclRecv carry it out. Routes are cached.
func (t *Topology) SendPlan(from, to int, bytes int64, s Settings) Plan {
	p := Plan{Op: SendRecv, Algorithm: Direct, Protocol: Simple, Channels: 1, Message: bytes, Bottleneck: none, BusFactor: 1}
	if from == to || bytes <= 0 || s.Model == "free" {
		return p
	}
	w := t.sendWay(sendKey{int32(from), int32(to), t.p2pLevel(s, len(t.node.visible)), s.Model == "ideal"})
	if w.direct == nil {
		p.Latency = sim.FromSeconds(w.latency * 1e-6)
		t.carry(&p, &w.traffic, w.limit)
		return p
	}
	call := directCost(w.direct, bytes, 2, 1, w.bus)
	p.Latency = sim.FromSeconds((call.lat + w.latency) * 1e-6)
	t.carry(&p, &w.traffic, call.bw*1e9)
	return p
}

// sendWay returns the cached route of a message.
func (t *Topology) sendWay(key sendKey) *sendWay {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.sends[key]; w != nil {
		return w
	}
	w := t.newSendWay(key)
	if t.sends == nil {
		t.sends = make(map[sendKey]*sendWay)
	}
	t.sends[key] = w
	return w
}

func (t *Topology) newSendWay(key sendKey) *sendWay {
	r := t.route(int(key.from), int(key.to), key.level)
	w := &sendWay{}
	w.traffic.uses, w.traffic.unit, w.traffic.bottleneck = t.normalise(r.uses)
	if key.ideal {
		w.latency = t.pathLatency(r.uses).Microseconds()
		return w
	}
	gen := t.generation()
	switch {
	case r.kind == PathNET:
		w.latency = gen.NVLink.Fit.Direct.Base + stepLatency[Ring][hwNet][Simple]
	case r.kind <= PathNVB:
		d := gen.NVLink.Fit.Direct
		d.Copy = 0
		w.direct, w.bus = &d, gen.NCCL.NVLinkSpeed*float64(t.pairLinks(int(key.from), int(key.to)))
	default:
		d := pciePerformance.Direct
		d.Share = pciePerformance.Simple.Share
		if t.PathType(int(key.from), int(key.to)) > key.level {
			d.Share = t.cfg.HostCopyEfficiency
		}
		w.direct, w.bus = &d, min(t.links[w.traffic.bottleneck].Capacity/w.traffic.unit/1e9, peerRate/d.Share)
	}
	return w
}

// pairLinks is the number of NVLinks on the way between two GPUs of a node.
func (t *Topology) pairLinks(from, to int) int {
	n, a, b := &t.node, t.local(from), t.local(to)
	if switched(&t.cfg) {
		return n.nvlinks
	}
	if k := n.bonded[a][b]; k > 0 {
		return k
	}
	c := n.relay(a, b)
	return min(n.bonded[a][c], n.bonded[c][b])
}

// pathLatency returns the sum of the latencies of a route's links.
func (t *Topology) pathLatency(uses []LinkUse) sim.Time {
	var sum sim.Time
	for _, u := range uses {
		sum += t.links[u.Link].Latency
	}
	return sum
}
