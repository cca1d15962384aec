package interconnect

import "trainsim/sim"

// SendPlan returns the transfer of a point-to-point message between devices.
func (t *Topology) SendPlan(from, to int, bytes int64, s Settings) Plan {
	p := Plan{Op: SendRecv, Algorithm: Direct, Protocol: Simple, Channels: 1, Message: bytes, Bottleneck: none, BusFactor: 1}
	if from == to || bytes <= 0 {
		return p
	}
	r := t.route(from, to, t.p2pLevel(s))
	p.Latency = t.pathLatency(r.uses)
	var tr traffic
	tr.uses, tr.unit, tr.bottleneck = t.normalise(r.uses)
	t.carry(&p, &tr, 0)
	return p
}

// pathLatency returns the sum of the latencies of a route's links.
func (t *Topology) pathLatency(uses []LinkUse) sim.Time {
	var sum sim.Time
	for _, u := range uses {
		sum += t.links[u.Link].Latency
	}
	return sum
}
