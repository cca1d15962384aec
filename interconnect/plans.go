package interconnect

import (
	"math"

	"trainsim/sim"
)

// idealPlan runs a ring at the links' own latency and bandwidth: an all-reduce
// of S bytes over p ranks takes 2(p-1)(alpha + S/(p*B)).
func (c *Communicator) idealPlan(p *Plan) {
	tr := c.trafficOf(p.Op, patternOf(p.Op), Simple)
	p.Channels = 1
	p.Latency = sim.Time(idealSteps(p.Op, len(c.devices))) * tr.hop
	c.t.carry(p, tr, 0)
}

// patternOf is the pattern of an operation on rings.
func patternOf(op Op) pattern {
	switch op {
	case Broadcast, Reduce:
		return onChains
	case AllToAll:
		return onPairs
	}
	return onRings
}

// idealSteps is the number of hops that a ring makes one after the other.
func idealSteps(op Op, n int) int {
	switch op {
	case AllReduce:
		return 2 * (n - 1)
	case SendRecv, AllToAll:
		return 1
	}
	return n - 1
}

// ncclPlan chooses algorithm and protocol as NCCL does.
func (c *Communicator) ncclPlan(p *Plan) {
	best, ok := c.tuner.choose(p.Op, p.Message)
	if !ok {
		c.idealPlan(p)
		return
	}
	p.Algorithm, p.Protocol = best.algorithm, best.protocol
	p.Channels = c.callChannels(best.algorithm, best.protocol, p.Message)
	pt := patternOf(p.Op)
	if best.algorithm == NVLS || best.algorithm == NVLSTree {
		pt = onSwitch
	}
	bw := (best.micros - best.lat)
	rate := float64(p.Message) / bw * 1e6
	p.Latency = sim.FromSeconds(best.lat * 1e-6)
	c.t.carry(p, c.trafficOf(p.Op, pt, best.protocol), rate)
}

// exchangePlan is a set of point-to-point transfers at once.
func (c *Communicator) exchangePlan(p *Plan) {
	tr := c.trafficOf(p.Op, patternOf(p.Op), Simple)
	p.Algorithm = Direct
	p.Channels = 1
	p.Latency = tr.hop
	c.t.carry(p, tr, 0)
}

// carry fills the progress of a plan from its traffic; cap is the plan's own
// limit in bytes of the full vector a second, 0 for none.
func (t *Topology) carry(p *Plan, tr *traffic, cap float64) {
	p.Links, p.Bottleneck = tr.uses, tr.bottleneck
	p.Bytes = wholeBytes(float64(p.Message) * tr.unit)
	p.Cap = cap * tr.unit
	p.rate = math.Inf(1)
	if tr.bottleneck != none {
		p.rate = t.links[tr.bottleneck].Capacity
	}
	if p.Cap > 0 && p.Cap < p.rate {
		p.rate = p.Cap
	}
}

// wholeBytes rounds a size up, but not for an error of arithmetic.
func wholeBytes(x float64) int64 {
	if r := math.Round(x); math.Abs(x-r) <= 1e-6+2e-15*x {
		return int64(r)
	}
	return int64(math.Ceil(x))
}

// callChannels is the number of channels of one call: small messages use fewer.
func (c *Communicator) callChannels(a Algorithm, p Protocol, bytes int64) int {
	n, threads, threshold := c.tuner.channels, 512, 64
	switch {
	case a == NVLS || a == NVLSTree:
		n, threads = c.nvlsChannels(), 640
	case p == LL:
		threshold = 8
		if a == Ring {
			threshold = 8 * len(c.devices)
		}
	case p == LL128:
		threads, threshold = 640, 8
	case a == Ring && c.tuner.graphs[Ring].intra*float64(c.tuner.graphs[Ring].channels) <= 12:
		threads = 256
	}
	for n > 1 && bytes < int64(n*threads*threshold) {
		n--
	}
	return max(n, 1)
}

// nvlsChannels is the number of channels of NVLink SHARP.
func (c *Communicator) nvlsChannels() int {
	switch {
	case c.tuner.cc < 100:
		return 16
	case len(c.groups) == 1:
		return 24
	}
	return 32
}
