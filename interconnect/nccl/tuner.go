package nccl

import (
	"math"

	"trainsim/sim/gpu/generation"
)

// graph is what NCCL's search found for an algorithm: channels and the speed of
// each, inside a node and between nodes, in GB/s.
type graph struct {
	channels     int
	intra, inter float64
	nvlink       bool    // every hop inside a node is NVLink
	plainTree    bool    // the tree pattern without balanced or split parts
	latency      float64 // of the network cards, in microseconds
	sameChannels bool    // all channels run over the same ring
}

// tuner is what NCCL knows about a communicator when it estimates times.
type tuner struct {
	ranks, nodes int
	gen          *generation.Generation
	amd, x86     bool
	channels     int // of the communicator
	graphs       [numAlgorithms]graph
	ll128        bool // LL128 is on by default
	oneRankNodes bool // every node has exactly one rank
	algorithms   func(Op, Algorithm) bool
	protocols    func(Protocol) bool
}

// estimate is one cell of the tuning table: time = lat + bytes/(1000*bw).
type estimate struct {
	lat float64 // microseconds
	bw  float64 // GB/s of the full vector; 0: not available
}

// nsteps is the number of steps that NCCL counts for an operation.
func nsteps(op Op, ranks int) int {
	switch op {
	case AllReduce:
		return 2 * (ranks - 1)
	case AllGather, ReduceScatter:
		return ranks - 1
	}
	return ranks
}

// supports says whether NCCL has an algorithm and protocol for an operation.
func supports(op Op, a Algorithm, p Protocol) bool {
	switch a {
	case Ring:
		return op <= Reduce
	case Tree:
		return op == AllReduce
	case NVLS:
		return p == Simple && op <= ReduceScatter
	case NVLSTree:
		return p == Simple && op == AllReduce
	case PAT:
		return p == Simple && (op == AllGather || op == ReduceScatter)
	}
	return false
}

// cell returns the estimate for an operation under an algorithm and protocol,
// before the corrections that depend on the size.
func (t *tuner) cell(op Op, a Algorithm, p Protocol) estimate {
	if !supports(op, a, p) || t.graphs[a].channels == 0 {
		return estimate{}
	}
	bw := t.bandwidth(op, a, p)
	if bw <= 0 {
		return estimate{}
	}
	return estimate{lat: t.latency(op, a, p), bw: bw}
}

// bandwidth follows the order of NCCL's own computation.
func (t *tuner) bandwidth(op Op, a Algorithm, p Protocol) float64 {
	g := &t.graphs[a]
	channels := float64(g.channels)
	bw := g.intra
	if t.nodes > 2 {
		bw = g.inter
	}
	if a.sharp() {
		bw = t.nvlsChannel(op, a)
	}
	bus := channels * bw
	switch a {
	case Ring:
		bus = t.ringBus(bus, channels, p)
	case Tree:
		bus = t.treeBus(bus, channels, p)
	case PAT:
		bus *= 0.75
	}
	switch {
	case a != Ring && (op == AllGather || op == ReduceScatter):
		return bus
	case a == Ring || a.sharp():
		return bus * float64(t.ranks) / float64(nsteps(op, t.ranks))
	}
	return bus * 0.5
}

func (t *tuner) ringBus(bus, channels float64, p Protocol) float64 {
	switch p {
	case LL:
		return min(t.llLimit(), bus/2)
	case LL128:
		return min(0.92*bus, channels*t.gen.NCCL.RingLL128.At(t.nodes))
	}
	return bus
}

func (t *tuner) treeBus(bus, channels float64, p Protocol) float64 {
	bus = min(0.92*bus, channels*t.gen.NCCL.Tree.At(t.nodes))
	switch p {
	case LL:
		bus = min(bus/3.8, t.llLimit())
	case LL128:
		part := 15.0 / 16
		if t.nodes == 1 {
			part = 7.0 / 9
		}
		bus = min(bus*part, channels*t.gen.NCCL.TreeLL128.At(t.nodes))
	}
	if t.graphs[Tree].plainTree {
		bus *= 0.85
	}
	return bus
}

// llLimit is the limit of LL: the GPU decides it on one node, the processor
// between nodes.
func (t *tuner) llLimit() float64 {
	switch {
	case t.nodes == 1:
		return t.gen.NCCL.LLOneNode
	case t.amd:
		return llNodesAMD.At(t.nodes)
	}
	return llNodes.At(t.nodes)
}

func (t *tuner) nvlsChannel(op Op, a Algorithm) float64 {
	return min(t.nvlsInside(op, a), t.nvlsOutside(a))
}

// nvlsInside is what a channel of NVLink SHARP reaches inside a node.
func (t *tuner) nvlsInside(op Op, a Algorithm) float64 {
	g := &t.graphs[a]
	heads := float64(g.channels)
	intra := g.intra * t.gen.NCCL.NVLS.Efficiency * (heads - 1) / heads
	if op == AllReduce {
		return intra * 2
	}
	perNode := float64(t.ranks) / float64(t.nodes)
	return intra * (perNode - 1) / perNode
}

// nvlsOutside is what it has of the network between nodes.
func (t *tuner) nvlsOutside(a Algorithm) float64 {
	inter := t.graphs[a].inter
	if a == NVLSTree && t.nodes <= 2 {
		inter *= 2
	}
	if a == NVLSTree {
		inter = min(inter, t.gen.NCCL.NVLS.Tree.At(t.nodes))
	}
	return inter
}

// latency returns the fixed part of the time.
func (t *tuner) latency(op Op, a Algorithm, p Protocol) float64 {
	g := &t.graphs[a]
	hw := hwPCI
	if g.nvlink {
		hw = hwNVLink
	}
	intra := stepLatency[a][hw][p]
	inter := stepLatency[a][hwNet][p]
	perNode := float64(t.ranks) / float64(t.nodes)
	if perNode == 1 {
		inter = stepLatency[Tree][hwNet][p]
	}
	inter += g.latency
	if p == Simple {
		inter += g.latency
	}
	log2 := math.Floor(math.Log2(float64(t.nodes)))
	base := baseLatency[a][p]
	switch a {
	case Ring:
		return base + t.ringLatency(op, p, intra, inter)
	case Tree:
		return base + float64(2*(float64((perNode-1)*intra)+float64(log2*inter)))
	case NVLS:
		if t.nodes > 1 {
			return intra + inter
		}
		return intra
	case NVLSTree:
		return intra + float64(2*log2*inter)
	case PAT:
		return base + log2*inter/3.5 + float64(2.8*float64(t.ranks))
	}
	return base
}

func (t *tuner) ringLatency(op Op, p Protocol, intra, inter float64) float64 {
	steps := nsteps(op, t.ranks)
	if op == Broadcast || op == Reduce {
		return t.chainLatency(p, intra, inter, steps)
	}
	net := 0
	if t.nodes > 1 {
		net = t.nodes - 1
		if op == AllReduce {
			net *= 2
		}
		intra = max(intra, t.netOverhead(p))
	}
	return float64(float64(steps-net)*intra) + float64(float64(net)*inter)
}

// chainLatency is a broadcast's or a reduction's. NCCL counts one step where
// all channels share a ring.
func (t *tuner) chainLatency(p Protocol, intra, inter float64, steps int) float64 {
	hw := intra
	if t.nodes > 1 {
		hw = stepLatency[Ring][hwNet][p]
	}
	if t.graphs[Ring].sameChannels {
		return hw
	}
	if p == Simple {
		hw = stepLatency[Tree][hwPCI][p]
		if t.nodes > 1 {
			hw = stepLatency[Tree][hwNet][p]
		}
	}
	return float64(steps) * hw
}

// netOverhead is the cost of posting to a network card.
func (t *tuner) netOverhead(p Protocol) float64 {
	overhead := 1.0
	if t.amd {
		overhead = 2
	}
	if p == Simple {
		overhead *= 3
	}
	return overhead
}

// time applies the corrections for a size and returns microseconds.
func (t *tuner) time(op Op, a Algorithm, p Protocol, e estimate, bytes int64) float64 {
	if op == AllReduce && (a == Tree || (a == NVLSTree && t.gen.NCCL.NVLS.TreeCorrected && t.x86)) {
		e.bw *= correction(p, bytes, a == NVLSTree)
	}
	if a == Ring && p == Simple && op == AllReduce && t.nodes > 1 && bytes/int64(t.channels*t.ranks) >= 64 {
		e.lat *= t.gen.NCCL.RingNodesLatency
	}
	return e.lat + float64(bytes)/(1000*e.bw)
}

func correction(p Protocol, bytes int64, nvls bool) float64 {
	i := int(math.Floor(math.Log2(max(float64(bytes)/64, 1))))
	last := 22
	if nvls {
		last = 23
	}
	if i > last {
		return 1
	}
	return treeCorrection[p][i]
}

// choice is what NCCL picks for one call.
type choice struct {
	algorithm Algorithm
	protocol  Protocol
	micros    float64 // the estimated time
	estimate
}

// choose returns the fastest allowed combination; ties go to the first in
// NCCL's order. ok is false when nothing is left.
func (t *tuner) choose(op Op, bytes int64) (best choice, ok bool) {
	best.micros = math.Inf(1)
	for a := range numAlgorithms {
		for p := range numProtocols {
			if !t.allows(op, a, p) {
				continue
			}
			e := t.cell(op, a, p)
			if e.bw == 0 {
				continue
			}
			if us := t.time(op, a, p, e, bytes); us < best.micros {
				best, ok = choice{a, p, us, e}, true
			}
		}
	}
	return best, ok
}

func (t *tuner) allows(op Op, a Algorithm, p Protocol) bool {
	if p == LL128 && !t.ll128 && t.protocols == nil {
		return false
	}
	if a == PAT && !t.oneRankNodes {
		return false // NCCL has it for one rank a node, forced or not
	}
	return (t.algorithms == nil || t.algorithms(op, a)) && (t.protocols == nil || t.protocols(p))
}
