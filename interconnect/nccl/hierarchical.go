package nccl

import (
	"trainsim/interconnect"
	"trainsim/sim"
)

// hierarchy is an all-reduce in three phases: a reduce-scatter inside each
// domain (an NVLink island, or a node), an all-reduce of each part between the
// domains, and an all-gather inside. It is not one of NCCL's algorithms; the
// setting algo = ["Hierarchical"] asks for it, and communicators inside one
// domain then run as they would without.
type hierarchy struct {
	inside []*Communicator // of each domain
	across []*Communicator // of the j-th devices of all domains
}

// wantsHierarchy says whether the settings name the algorithm.
func (s *Settings) wantsHierarchy() bool {
	for _, name := range s.Algo {
		if a, err := ParseAlgorithm(name); err == nil && a == Hierarchical {
			return true
		}
	}
	return false
}

// newHierarchy splits a communicator into its domains; nil where there is only
// one, or where they differ in size, and NCCL's own algorithms have to do.
func (c *shape) newHierarchy() (*hierarchy, error) {
	domains := c.domains()
	if len(domains) < 2 {
		return nil, nil
	}
	settings := *c.settings
	settings.Algo = nil
	plain := newLibrary(c.t, settings)
	h := &hierarchy{}
	across := make([][]int, len(domains[0]))
	for _, d := range domains {
		if len(d) != len(domains[0]) {
			return nil, nil
		}
		if err := h.join(&h.inside, plain, d); err != nil {
			return nil, err
		}
		for j := range d {
			across[j] = append(across[j], d[j])
		}
	}
	for _, d := range across {
		if err := h.join(&h.across, plain, d); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (h *hierarchy) join(to *[]*Communicator, l *Library, devices []int) error {
	c, err := l.Communicator(AllReduce, devices)
	*to = append(*to, c)
	return err
}

// domains returns the devices by NVLink island, or by node where NVLink joins
// whole nodes.
func (c *shape) domains() [][]int {
	var out [][]int
	for _, g := range c.groups {
		devices := make([]int, len(g.places))
		for i, place := range g.places {
			devices[i] = c.device(g.domain, place)
		}
		out = append(out, c.t.Islands(devices)...)
	}
	return out
}

// hierarchicalPlan adds up the phases: they follow one another, so their times
// do, and each link carries the bytes of every phase.
func (c *shape) hierarchicalPlan(p *Plan) {
	p.Algorithm = Hierarchical
	part := max(p.Message/int64(len(c.hierarchy.across)), 1)
	all, own := c.lib.loads(), c.lib.loads()
	defer c.lib.giveBack(all)
	defer c.lib.giveBack(own)
	seconds := 0.0
	var latency sim.Time
	phase := func(op Op, comms []*Communicator, bytes int64) {
		slowest := &Plan{}
		for _, cm := range comms {
			q := cm.Plan(op, bytes)
			p.Channels = max(p.Channels, q.Channels)
			if q.Uncontended() >= slowest.Uncontended() {
				slowest = q
			}
			own.Add(cm.base, q.Links, float64(q.Bytes))
		}
		p.Protocol = slowest.Protocol
		latency += slowest.Latency
		carried := own.Take()
		seconds += max(bottleneckTime(c.t, carried), (slowest.Uncontended() - slowest.Latency).Seconds())
		all.Add(0, carried, 1/float64(p.Message))
	}
	phase(ReduceScatter, c.hierarchy.inside, p.Message)
	phase(AllReduce, c.hierarchy.across, part)
	phase(AllGather, c.hierarchy.inside, p.Message)
	tr := c.t.Traffic(all.Take())
	p.carry(c.t, &tr, latency, float64(p.Message)/seconds)
}

// bottleneckTime returns the seconds that bytes on links take at least; the
// weights are bytes.
func bottleneckTime(t *interconnect.Topology, uses []interconnect.LinkUse) float64 {
	worst := 0.0
	for _, u := range uses {
		worst = max(worst, u.Weight/t.Capacity(u.Link))
	}
	return worst
}
