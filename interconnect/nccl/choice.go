package nccl

import (
	"math"

	"trainsim/interconnect"
	"trainsim/sim"
	"trainsim/sim/gpu/generation"
)

func (c *shape) plan(op Op, bytes int64) *Plan {
	n := len(c.devices)
	p := newPlan(op, Ring, bytes, op.BusFactor(n))
	if n < 2 || bytes <= 0 || c.settings.Model == "free" {
		return p
	}
	switch {
	case op == AllReduce && c.hierarchy != nil:
		c.hierarchicalPlan(p)
	case c.settings.Model == "ideal":
		c.idealPlan(p)
	case op == AllToAll || op == SendRecv:
		c.exchangePlan(p)
	default:
		c.ncclPlan(p)
	}
	return p
}

// idealPlan runs a ring at the links' own latency and bandwidth: an all-reduce
// of S bytes over p ranks takes 2(p-1)(alpha + S/(p*B)).
func (c *shape) idealPlan(p *Plan) {
	tr := c.trafficOf(p.Op, patternOf(p.Op), Simple)
	p.Channels = 1
	p.carry(c.t, &tr.Traffic, sim.Time(idealSteps(p.Op, len(c.devices)))*tr.hop, 0)
}

// patternOf is the pattern of an operation on rings.
func patternOf(op Op) pattern {
	switch op {
	case Broadcast, Reduce:
		return onChains
	case AllToAll:
		return onPairs
	case SendRecv:
		return onShift
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

// ncclPlan chooses algorithm and protocol as NCCL does and takes the time that
// the hardware was measured to take.
func (c *shape) ncclPlan(p *Plan) {
	best, ok := c.tuner.choose(p.Op, p.Message)
	if !ok {
		c.idealPlan(p)
		return
	}
	p.Algorithm, p.Protocol = best.algorithm, best.protocol
	p.Channels = c.callChannels(best.algorithm, best.protocol, p.Message)
	pt := patternOf(p.Op)
	if best.algorithm.sharp() {
		pt = onSwitch
	} else if best.algorithm == Tree && len(c.groups) > 1 {
		pt = onTrees
	}
	tr := c.trafficOf(p.Op, pt, best.protocol)
	call := c.callCost(p, &best)
	p.carry(c.t, &tr.Traffic, sim.FromSeconds(call.lat*1e-6), c.channelLimit(p, call.bw*1e9))
}

// callCost returns the time of one call alone on its links.
func (c *shape) callCost(p *Plan, best *choice) cost {
	perf, bus := c.performance()
	n := len(c.devices)
	vol, k := p.Op.BusFactor(n), float64(idealSteps(p.Op, n))
	switch {
	case best.algorithm.sharp():
		fit := sharpFit(perf, best.algorithm)
		if c.tuner.nvlsOutside(best.algorithm) < c.tuner.nvlsInside(p.Op, best.algorithm) {
			fit.Share = max(fit.Share, 1) // the cards limit it, not the switches
		}
		return switchCost(&fit, p.Message, best.estimate, c.pluginShare())
	case best.algorithm != Ring || len(c.groups) > 1 || p.Op == Broadcast || p.Op == Reduce:
		return c.estimatedCost(p, best, perf, bus)
	case best.protocol == LL:
		return lineCost(&perf.LL, p.Message, k, vol, bus/2)
	case best.protocol == LL128:
		return lineCost(&perf.LL128, p.Message, k, vol, bus)
	}
	return sliceCost(&perf.Simple, p.Op, p.Message, n, k, vol, bus)
}

// pluginShare is how much of NCCL's latency of NVLink SHARP with trees comes from
// the network's plugin: twice a step, up and down the tree.
func (c *shape) pluginShare() float64 {
	return float64(4 * math.Floor(math.Log2(float64(len(c.groups)))) * c.pluginLatency())
}

// estimatedCost is NCCL's own estimate, for what the measured tables do not
// cover: trees, rings over several nodes, broadcasts. Where rings leave NVLink
// inside a node, the machine's links limit it rather than NCCL's figure for
// them.
func (c *shape) estimatedCost(p *Plan, best *choice, perf *generation.Fits, bus float64) cost {
	e := c.tuner.cell(p.Op, best.algorithm, best.protocol)
	us := c.tuner.time(p.Op, best.algorithm, best.protocol, e, p.Message)
	bw := float64(p.Message) / (1000 * (us - best.lat))
	if c.worst > interconnect.PathNVB {
		bw = perf.Simple.Share * bus / (p.Op.BusFactor(len(c.devices)) * wire[best.protocol])
	}
	lat := best.lat
	if best.algorithm == Tree && len(c.groups) > 1 {
		lat += treeExtra
	}
	return cost{lat: lat, bw: bw}
}

// performance returns the class of the communicator's hardware and the
// bandwidth of its rings in GB/s: what NCCL counts where NVLink joins the
// devices of a node, what the links give elsewhere.
func (c *shape) performance() (*generation.Fits, float64) {
	if c.worst <= interconnect.PathNVB {
		total, _ := c.intraRoom()
		return &c.tuner.gen.NVLink.Fit, total
	}
	class := &pciePerformance
	if c.worst > c.level {
		class = hostPerformance(c.t.Config())
	}
	tr := c.trafficOf(AllGather, onRings, Simple)
	if tr.Bottleneck == none {
		return class, 1
	}
	edge := tr.Unit / AllGather.BusFactor(len(c.devices)) // of the ring's bytes, on the bottleneck
	return class, c.t.Capacity(tr.Bottleneck) / edge / 1e9
}

// channelLimit lowers a rate when the settings allow fewer channels than NCCL
// would use: one channel moves at most what a channel of LL128 does.
func (c *shape) channelLimit(p *Plan, rate float64) float64 {
	if c.settings.MaxChannels == 0 {
		return rate
	}
	per := c.tuner.gen.NCCL.RingLL128.At(1) * 1e9
	return min(rate, float64(c.tuner.channels)*per/p.BusFactor)
}

// exchangePlan is a set of point-to-point transfers at once.
func (c *shape) exchangePlan(p *Plan) {
	tr := c.trafficOf(p.Op, patternOf(p.Op), Simple)
	perf, bus := c.performance()
	n := len(c.devices)
	if p.Op == SendRecv {
		n = 2
	}
	d := perf.Direct
	if p.Op == SendRecv {
		d.Copy = 0
	}
	local := min(n, c.largest)
	if c.worst > interconnect.PathNVB {
		bus = min(bus, peerRate*float64(max(local-1, 1))/d.Share)
	}
	call := directCost(&d, p.Message, max(local, 2), p.BusFactor, bus)
	if len(c.groups) > 1 {
		call.lat += stepLatency[Ring][hwNet][Simple] + c.tuner.netOverhead(LL)*float64(n-local)/netChannels
		call.bw = 0
	}
	p.Algorithm, p.Channels = Direct, c.p2pChannels()
	p.carry(c.t, &tr.Traffic, sim.FromSeconds(call.lat*1e-6), call.bw*1e9)
}

// netChannels is how many messages to different peers are posted at once.
const netChannels = 8

// p2pChannels is the number of channels of an exchange: the communicator's,
// rounded up to a power of two.
func (c *shape) p2pChannels() int {
	n := 1
	for n < c.tuner.channels {
		n *= 2
	}
	return n
}

// callChannels is the number of channels of one call: small messages use fewer.
func (c *shape) callChannels(a Algorithm, p Protocol, bytes int64) int {
	n, threads, threshold := c.tuner.channels, 512, 64
	switch {
	case a.sharp():
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
func (c *shape) nvlsChannels() int {
	if len(c.groups) == 1 {
		return c.tuner.gen.NCCL.NVLS.ChannelsOneNode
	}
	return c.tuner.gen.NCCL.NVLS.ChannelsNodes
}
