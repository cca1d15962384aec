package nccl

import (
	"trainsim/interconnect"
	"trainsim/sim"
	"trainsim/sim/gpu/generation"
)

// sendKey names what the route of a message depends on: the devices, moved by
// whole domains.
type sendKey struct {
	from, to int32
}

// sendWay is a route with what a message over it costs.
type sendWay struct {
	traffic interconnect.Traffic
	latency float64               // microseconds
	direct  *generation.DirectFit // nil where the links alone take time
	bus     float64               // GB/s
	plans   map[int64]*Plan       // by bytes
}

// Send returns a point-to-point message between devices, as ncclSend and ncclRecv
// carry it out. Routes and plans are cached, and shared by pairs on the same
// places of other domains.
func (l *Library) Send(from, to int, bytes int64) Call {
	if from == to || bytes <= 0 || l.settings.Model == "free" {
		return Call{l.newMessage(bytes), 0}
	}
	shift := l.shift([]int{from, to})
	if l.t.Leaves() > 0 && l.t.TrayOf(from) != l.t.TrayOf(to) {
		shift = 0 // trays that peer-to-peer copies do not join reach each other over leaf switches
	}
	first := shift * l.t.PerDomain()
	key := sendKey{int32(from - first), int32(to - first)}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.sends[key]
	if w == nil {
		w = l.newSendWay(int(key.from), int(key.to))
		l.sends[key] = w
	}
	p := w.plans[bytes]
	if p == nil {
		p = l.sendPlan(w, bytes)
		w.plans[bytes] = p
	}
	return Call{p, l.t.Base(shift)}
}

func (l *Library) newMessage(bytes int64) *Plan {
	p := newPlan(SendRecv, Direct, bytes, 1)
	p.Channels = 1
	return p
}

func (l *Library) sendPlan(w *sendWay, bytes int64) *Plan {
	p := l.newMessage(bytes)
	if w.direct == nil {
		p.carry(l.t, &w.traffic, sim.FromSeconds(w.latency*1e-6), 0)
		return p
	}
	call := directCost(w.direct, bytes, 2, 1, w.bus)
	p.carry(l.t, &w.traffic, sim.FromSeconds((call.lat+w.latency)*1e-6), call.bw*1e9)
	return p
}

func (l *Library) newSendWay(from, to int) *sendWay {
	level := l.p2pLevel(l.t.PerDomain())
	r := l.t.Route(from, to, level)
	w := &sendWay{traffic: l.t.Traffic(r.Uses), plans: make(map[int64]*Plan)}
	if l.settings.Model == "ideal" {
		w.latency = l.t.Latency(r.Uses).Microseconds()
		return w
	}
	gen := l.t.Generation()
	switch {
	case r.Type == interconnect.PathNET:
		w.latency = gen.NVLink.Fit.Direct.Base + stepLatency[Ring][hwNet][Simple]
	case r.Type <= interconnect.PathNVB:
		d := gen.NVLink.Fit.Direct
		d.Copy = 0
		w.direct, w.bus = &d, gen.NCCL.NVLinkSpeed*float64(l.t.NVLinksVia(from, to))
	default:
		d := pciePerformance.Direct
		d.Share = pciePerformance.Simple.Share
		if l.t.PathType(from, to) > level {
			d.Share = l.t.Config().HostCopyEfficiency
		}
		bottleneck := l.t.Capacity(w.traffic.Bottleneck) / w.traffic.Unit / 1e9
		w.direct, w.bus = &d, min(bottleneck, peerRate/d.Share)
	}
	return w
}
