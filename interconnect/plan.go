package interconnect

import "trainsim/sim"

// Plan is one transfer, ready to start as often as needed: a collective of a
// communicator, a point-to-point message, or any other traffic. It must not
// change once started. Links is shared between plans.
type Plan struct {
	Op        Op
	Algorithm Algorithm
	Protocol  Protocol
	Channels  int
	// Message is the size of the operation as the caller gave it.
	Message int64
	// Latency is paid before the bytes.
	Latency sim.Time
	// Bytes is what crosses the bottleneck link, the measure of progress.
	Bytes int64
	// Cap is the transfer's own limit of progress in bytes a second (channels,
	// protocol); 0 for none.
	Cap float64
	// Links are the links that it crosses, with the bytes of each for one byte
	// of progress.
	Links []LinkUse
	// Bottleneck is the link that limits it when it is alone; -1 without links.
	Bottleneck LinkID
	// BusFactor turns Message over time into nccl-tests' bus bandwidth.
	BusFactor float64

	rate float64 // progress in bytes a second when alone
	own  []ownUse
}

// ownUse is what one of several equal transfers that a plan stands for puts on
// a link; several says that others of them cross it too. It is what the plan's
// share of a link is measured by.
type ownUse struct {
	LinkUse
	several bool
}

// Uncontended returns how long the plan takes alone on its links.
func (p *Plan) Uncontended(t *Topology) sim.Time {
	return p.Latency + transferTime(p.Bytes, p.rate)
}

// MemoryBytes returns how many bytes each rank's device memory reads and writes
// for one call, from how NCCL's kernels move the data. On a ring each byte that
// arrives is written into the connection's buffer by its sender and read from it,
// and either meets a byte of the rank's own input on its way on or is written
// into its output: three times the traffic on the bus, half of it reads. Trees
// come to the same. NVLink SHARP copies the input into the switches' buffers (a
// read and a write), where it is read once and the result written once, and
// copies the result out of them: six times the vector in an all-reduce, three
// times in a half. A message is read where it comes from, and written, read and
// written where it goes.
func (p *Plan) MemoryBytes() float64 {
	bus := float64(p.Message) * p.BusFactor
	switch {
	case p.Op == AllToAll || p.Op == SendRecv:
		return 4 * bus
	case (p.Algorithm == NVLS || p.Algorithm == NVLSTree) && p.Op == AllReduce:
		return 6 * float64(p.Message)
	case p.Algorithm == NVLS || p.Algorithm == NVLSTree:
		return 3 * float64(p.Message)
	}
	return 3 * bus
}

// MemoryRate returns the bytes a second that a call reads and writes in each
// rank's device memory when it is alone on its links; 0 for what takes no time.
func (p *Plan) MemoryRate(t *Topology) float64 {
	took := p.Uncontended(t).Seconds()
	if took <= 0 {
		return 0
	}
	return p.MemoryBytes() / took
}

// Rate returns the plan's progress in bytes a second when alone.
func (p *Plan) Rate() float64 { return p.rate }

func transferTime(bytes int64, rate float64) sim.Time {
	if bytes == 0 {
		return 0
	}
	return sim.TransferTime(bytes, max(rate, 1))
}

// Custom returns the plan of any other traffic: bytes that cross the links
// with the weights given, after latency, at most cap bytes a second (0: no own
// limit).
func (t *Topology) Custom(latency sim.Time, bytes int64, cap float64, links []LinkUse) Plan {
	p := Plan{Op: SendRecv, Algorithm: Direct, Protocol: Simple, Channels: 1, Message: bytes, Latency: latency, BusFactor: 1}
	var tr traffic
	tr.uses, tr.unit, tr.bottleneck = t.normalise(links)
	t.carry(&p, &tr, cap)
	return p
}

// Over returns the plan with other links: those given, with the bytes of each
// for one byte of progress. It is how one transfer stands for equal ones that
// cross some of its links.
func (p Plan) Over(t *Topology, links []LinkUse) Plan {
	own := p.Links
	if p.own != nil {
		own = make([]LinkUse, len(p.own))
		for i, u := range p.own {
			own[i] = u.LinkUse
		}
	}
	total := make(map[LinkID]float64, len(links))
	for _, u := range links {
		total[u.Link] = u.Weight
		p.rate = min(p.rate, t.links[u.Link].Capacity/u.Weight)
	}
	p.own = make([]ownUse, len(own))
	for i, u := range own {
		p.own[i] = ownUse{u, total[u.Link] > u.Weight*(1+1e-9)}
	}
	p.Links = links
	return p
}

// Times returns the plan of m such transfers that run in step, as one
// variable: every link carries m times the bytes. It is how one simulated
// transfer stands for identical ones.
func (p Plan) Times(t *Topology, m float64) Plan {
	links := make([]LinkUse, len(p.Links))
	for i, u := range p.Links {
		links[i] = LinkUse{u.Link, u.Weight * m}
	}
	return p.Over(t, links)
}
