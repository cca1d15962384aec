package nccl

import (
	"slices"

	"trainsim/interconnect"
)

// speedGraph picks the number of channels and their speed for a total
// bandwidth as NCCL's search does: from the fastest speed downwards the one
// with the largest product, until it reaches the total or the next speed is
// below 0.49 of the one found. fits returns how many channels of a speed there
// is room for.
func speedGraph(speeds []float64, total float64, fits func(speed float64) int) (channels int, speed float64) {
	for _, s := range speeds {
		if s > total || (speed > 0 && s < 0.49*speed) {
			continue
		}
		n := min(fits(s), maxChannels/2)
		if float64(n)*s > float64(channels)*speed {
			channels, speed = n, s
		}
		if float64(channels)*speed >= total {
			break
		}
	}
	if channels == 0 {
		return 1, total
	}
	return channels, speed
}

// duplicate doubles the channels of a graph where NCCL does: at half the speed
// each, when a channel is fast.
func (t *tuner) duplicate(channels int, speed float64) (int, float64) {
	if speed >= 25 && !(t.gen.NCCL.KeepsSlowChannels && speed < 50 && channels > 4) && channels > 0 {
		return min(2*channels, maxChannels/2), speed / 2
	}
	return channels, speed
}

// newTuner gathers what NCCL's tuning needs to know about a communicator.
func (c *shape) newTuner() *tuner {
	cfg := c.t.Config()
	t := &tuner{
		ranks: len(c.devices), nodes: len(c.groups), gen: c.t.Generation(),
		amd: isAMD(cfg), x86: cfg.CPU != "arm" && cfg.CPU != "power9",
	}
	t.oneRankNodes = t.ranks == t.nodes
	g := c.ringGraph(t)
	t.graphs[Ring], t.graphs[Tree] = g, g
	t.channels = c.channelCount(t, g)
	t.addNVLS(c)
	t.graphs[PAT] = g
	t.ll128 = t.gen.NCCL.LL128 && c.worst <= interconnect.PathNVB && c.nicPath() <= interconnect.PathPXB
	c.allow(t)
	return t
}

// allow applies the lists of algorithms and protocols of the settings.
func (c *shape) allow(t *tuner) {
	if len(c.settings.Algo) > 0 {
		allowed := [numAlgorithms]bool{}
		for _, name := range c.settings.Algo {
			a, _ := ParseAlgorithm(name)
			allowed[a] = true
		}
		t.algorithms = func(_ Op, a Algorithm) bool { return allowed[a] }
	}
	if len(c.settings.Proto) > 0 {
		allowed := [numProtocols]bool{}
		for _, name := range c.settings.Proto {
			p, _ := ParseProtocol(name)
			allowed[p] = true
		}
		t.protocols = func(p Protocol) bool { return allowed[p] }
	} else if c.t.Config().UnorderedNIC && t.nodes > 1 {
		t.protocols = func(p Protocol) bool { return p == Simple }
	}
}

// ringGraph is the graph that NCCL finds for rings.
func (c *shape) ringGraph(t *tuner) graph {
	var channels int
	var speed float64
	if t.nodes == 1 {
		total, fits := c.intraRoom()
		channels, speed = speedGraph(t.gen.NCCL.SpeedsOneNode, total, fits)
	} else {
		channels, speed = c.netGraph()
	}
	channels, speed = t.duplicate(max(channels, 1), speed)
	return graph{
		channels: channels, intra: speed, inter: speed,
		nvlink: c.worst <= interconnect.PathNVL && c.largest > 1, sameChannels: len(c.cycles) == 0,
		latency: c.pluginLatency(),
	}
}

// pluginLatency is what the network's plugin reports to NCCL, in microseconds.
func (c *shape) pluginLatency() float64 {
	if len(c.groups) == 1 {
		return 0
	}
	return c.t.Config().PluginLatency.Microseconds()
}

// intraRoom returns the bandwidth of a node's rings in NCCL's terms and how
// many rings of a speed fit.
func (c *shape) intraRoom() (total float64, fits func(float64) int) {
	fits = func(s float64) int { return int(total/s + 1e-9) }
	per := c.t.Generation().NCCL.NVLinkSpeed
	switch {
	case c.worst > interconnect.PathNVB || c.largest < 2:
		total = c.pcieSpeed()
	case len(c.cycles) > 0:
		total = per * float64(len(c.cycles))
		fits = func(s float64) int { return len(packCycles(roomFor(c.bonds, s/per))) }
	default:
		total = per * float64(c.t.NVLinksOf())
	}
	return total, fits
}

// netGraph is the graph over several nodes: a channel for each card, at the
// fastest speed that the cards and the nodes' inside have room for.
func (c *shape) netGraph() (int, float64) {
	speeds := c.t.Generation().NCCL.SpeedsNodes
	cards := c.cards()
	wire := min(float64(c.t.Config().NICBandwidth)/1e9, ncclPCIe(c.t.Config()))
	inside := wire * float64(cards)
	if c.largest > 1 {
		inside, _ = c.intraRoom()
	}
	if cards > maxChannels/2 {
		// More cards than a graph has channels: as many channels as the inside
		// has room for, each over a card of its own.
		wired := slices.IndexFunc(speeds, func(s float64) bool { return s <= wire })
		return speedGraph(speeds[max(wired, 0):], inside,
			func(s float64) int { return min(cards, int(inside/s+1e-9)) })
	}
	for _, s := range speeds {
		if s <= wire && s*float64(cards) <= inside {
			return cards, s
		}
	}
	for n := cards; n > 0; n-- {
		for _, s := range speeds {
			if s <= wire && s*float64(n) <= inside {
				return n, s
			}
		}
	}
	return 1, 0.12
}

// ncclPCIe is the bandwidth that NCCL counts for a slot: lanes times rate.
func ncclPCIe(cfg *interconnect.Config) float64 {
	return 0.75 * float64(int(1)<<(cfg.PCIeGen-1)) * float64(cfg.PCIeWidth) / 4
}

// pcieSpeed is the bandwidth that NCCL counts for the slowest hop of a ring
// that leaves NVLink.
func (c *shape) pcieSpeed() float64 {
	cfg := c.t.Config()
	bw := ncclPCIe(cfg)
	if c.worst == interconnect.PathPHB && isIntel(cfg) {
		bw /= 1.2
	}
	if c.worst == interconnect.PathSYS {
		bw = min(bw, cfg.SocketSpeed())
	}
	return bw
}

// channelCount is the number of channels of the communicator.
func (c *shape) channelCount(t *tuner, g graph) int {
	n := min(2*g.channels, maxChannels)
	if t.gen.NCCL.DoublesNodeChannels && t.nodes > 1 && g.intra > 45 && n < 16 {
		n *= 2
	}
	n = max(n, c.settings.MinChannels)
	if c.settings.MaxChannels > 0 {
		n = min(n, c.settings.MaxChannels)
	}
	return n
}

// maxHeads is the most GPUs of a domain among which NVLink SHARP shares the
// vector out (NCCL's NCCL_MAX_NVLS_ARITY); in a rack of 72 the others take part
// without being a head.
const maxHeads = 32

// addNVLS adds the graphs of NVLink SHARP: one head for each GPU of a node.
func (t *tuner) addNVLS(c *shape) {
	if !t.gen.NCCL.NVLS.Supported || c.level < interconnect.PathNVL || !c.t.Switched() || c.largest < 2 ||
		c.largest != c.smallest {
		return
	}
	heads := min(c.largest, maxHeads)
	per := t.gen.NCCL.NVLinkSpeed * float64(c.t.NVLinksOf()) / float64(heads)
	g := graph{channels: heads, nvlink: true, inter: per * 1e3, latency: c.pluginLatency()}
	for _, s := range t.gen.NCCL.SpeedsOneNode {
		if s <= per {
			g.intra = s
			break
		}
	}
	if t.nodes == 1 {
		t.graphs[NVLS] = g
		return
	}
	wire := min(float64(c.t.Config().NICBandwidth)/1e9, ncclPCIe(c.t.Config())) * float64(c.cards()) / float64(heads)
	for _, s := range t.gen.NCCL.SpeedsNodes {
		if s <= wire {
			g.inter = s
			break
		}
	}
	t.graphs[NVLSTree] = g
}
