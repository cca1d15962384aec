package interconnect

import (
	"math"

	"trainsim/sim"
)

// solver holds the scratch space of progressive filling.
type solver struct {
	stamp uint32
	flows []int32   // the component's transfers
	links []int32   // its links that two or more transfers cross
	rate  []float64 // by position in flows
	scale []float64 // by position in flows: progress for one byte on its measure
	limit []float64 // by position in flows: own limit and links it has alone
	left  []float64 // by position in links: capacity not given out
	sum   []float64 // by position in links: weights of unfrozen transfers
	count []int32   // by position in links: number of unfrozen transfers
	local []int32   // by slot: position in flows
	place []int32   // by position in Network.links: position in links
	open  []int32   // unfrozen positions
	live  []int32   // positions of links with unfrozen transfers
}

// solve re-computes the rates of all transfers that are connected to a dirty
// link and re-times them.
func (n *Network) solve() {
	n.collect()
	n.dirty = n.dirty[:0]
	if len(n.solver.flows) > 0 {
		n.fill()
		n.retime()
	}
	n.scheduleWake()
}

// collect finds the transfers and links that are connected to the dirty links.
func (n *Network) collect() {
	s := &n.solver
	s.stamp++
	s.flows, s.links = s.flows[:0], s.links[:0]
	if len(s.local) < len(n.flows) {
		s.local = append(s.local, make([]int32, len(n.flows)-len(s.local))...)
	}
	if len(s.place) < len(n.links) {
		s.place = append(s.place, make([]int32, len(n.links)-len(s.place))...)
	}
	for _, l := range n.dirty {
		n.visit(l)
	}
	for next := 0; next < len(s.flows); next++ {
		f := &n.flows[s.flows[next]]
		for _, at := range f.links {
			if len(n.links[at].flows) > 1 {
				n.visit(at)
			}
		}
	}
}

// visit adds a link and its transfers to the component.
func (n *Network) visit(l int32) {
	s := &n.solver
	link := &n.links[l]
	if link.mark == s.stamp {
		return
	}
	link.mark = s.stamp
	s.place[l] = int32(len(s.links))
	s.links = append(s.links, l)
	for _, c := range link.flows {
		if f := &n.flows[c.flow]; f.mark != s.stamp {
			f.mark = s.stamp
			s.local[c.flow] = int32(len(s.flows))
			s.flows = append(s.flows, c.flow)
		}
	}
}

// fill finds the max-min fair rates of the component by progressive filling:
// all transfers grow together, in bytes on the shared link that each loads
// most, until a link is full or a transfer is at its own limit; what is thereby
// fixed is taken out, and the rest goes on.
func (n *Network) fill() {
	n.prepare()
	s := &n.solver
	last := 0.0
	for len(s.open) > 0 {
		level := math.Inf(1)
		for _, i := range s.live {
			level = min(level, s.left[i]/s.sum[i])
		}
		for _, i := range s.open {
			level = min(level, s.limit[i]/s.scale[i])
		}
		// In exact arithmetic the level never falls; rounding must not make
		// it fall either, or a rate could become zero.
		last = max(level, last)
		n.freeze(last)
	}
}

// prepare sets up scales, residual capacities, sums of weights and own limits.
func (n *Network) prepare() {
	s := &n.solver
	s.rate, s.limit, s.scale, s.open = s.rate[:0], s.limit[:0], s.scale[:0], s.open[:0]
	for i, slot := range s.flows {
		limit, scale := n.measures(&n.flows[slot])
		s.rate, s.open = append(s.rate, -1), append(s.open, int32(i))
		s.limit, s.scale = append(s.limit, limit), append(s.scale, scale)
	}
	s.left, s.sum, s.count, s.live = s.left[:0], s.sum[:0], s.count[:0], s.live[:0]
	for i, l := range s.links {
		sum := 0.0
		for _, c := range n.links[l].flows {
			sum += float64(c.weight * s.scale[s.local[c.flow]])
		}
		s.left, s.sum = append(s.left, n.links[l].capacity), append(s.sum, sum)
		s.count, s.live = append(s.count, int32(len(n.links[l].flows))), append(s.live, int32(i))
	}
}

// measures returns a transfer's own limit, which is its cap or the room on a link
// that nobody shares with it, and its scale: the progress for one byte on the
// shared link that it loads most for the link's capacity. Two transfers that
// meet on one link thus get equal parts of it, whatever else each crosses.
func (n *Network) measures(f *flow) (limit, scale float64) {
	p := f.transfer
	limit, scale = math.Inf(1), 1
	if p.Cap > 0 {
		limit = p.Cap
	}
	load := 0.0
	for i, u := range p.Links {
		l := &n.links[f.links[i]]
		if len(l.flows) == 1 {
			limit = min(limit, l.capacity/u.Weight)
		} else if x := u.Weight / l.capacity; p.own == nil && x > load {
			load, scale = x, 1/u.Weight
		}
	}
	for _, u := range p.own {
		l := &n.links[n.link(f.base+u.Link)]
		if x := u.Weight / l.capacity; (u.several || len(l.flows) > 1) && x > load {
			load, scale = x, 1/u.Weight
		}
	}
	return limit, scale
}

// freeze fixes at level every transfer that crosses a link that is now full or
// that is at its own limit.
func (n *Network) freeze(level float64) {
	s := &n.solver
	for _, i := range s.live {
		if s.left[i]/s.sum[i] <= level {
			for _, c := range n.links[s.links[i]].flows {
				if f := s.local[c.flow]; s.rate[f] < 0 {
					s.rate[f] = level * s.scale[f]
				}
			}
		}
	}
	for _, i := range s.open {
		if s.rate[i] < 0 && s.limit[i]/s.scale[i] <= level {
			s.rate[i] = s.limit[i]
		}
	}
	open := s.open[:0]
	for _, i := range s.open {
		if s.rate[i] < 0 {
			open = append(open, i)
			continue
		}
		n.release(i)
	}
	s.open = open
	live := s.live[:0]
	for _, i := range s.live {
		if s.count[i] > 0 {
			live = append(live, i)
		}
	}
	s.live = live
}

// release takes a fixed transfer's share off the links of the component.
func (n *Network) release(f int32) {
	s := &n.solver
	rate, scale := s.rate[f], s.scale[f]
	of := &n.flows[s.flows[f]]
	for k, u := range of.transfer.Links {
		at := of.links[k]
		if n.links[at].mark != s.stamp {
			continue
		}
		i := s.place[at]
		s.left[i] = max(s.left[i]-float64(u.Weight*rate), 0)
		s.sum[i] -= float64(u.Weight * scale)
		s.count[i]--
	}
}

// retime advances the component's transfers to now and gives them their new
// rates. One whose rate did not change keeps its end to the picosecond.
func (n *Network) retime() {
	s := &n.solver
	now := n.engine.Now()
	for i, slot := range s.flows {
		f := &n.flows[slot]
		if f.state == alone {
			f.state = contended
			f.index = int32(len(n.contended))
			n.contended = append(n.contended, slot)
		}
		if f.rate == s.rate[i] {
			continue
		}
		f.left -= float64(f.rate * (now - f.since).Seconds())
		f.since, f.rate = now, s.rate[i]
		f.finish = now.Plus(max(fluidTime(f.left, f.rate), 1))
	}
	if n.record != nil {
		n.reportComponent()
	}
}

// fluidTime is how long left bytes take, rounded up.
func fluidTime(left, rate float64) sim.Time {
	ps := math.Ceil(left / rate * float64(sim.Second))
	if !(ps < float64(sim.Forever)) {
		return sim.Forever
	}
	return sim.Time(ps)
}

func (n *Network) reportComponent() {
	s := &n.solver
	for _, slot := range s.flows {
		n.report(n.flows[slot].links)
	}
	n.report(s.links)
}

// scheduleWake makes sure that a wake-up is pending for the first end of a
// contended transfer.
func (n *Network) scheduleWake() {
	first := sim.Forever
	for _, slot := range n.contended {
		first = min(first, n.flows[slot].finish)
	}
	if first < n.wakeAt {
		n.wakeAt = first
		n.engine.At(first, n.id, eventWake, 0)
	}
}
