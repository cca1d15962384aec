package nccl

import "slices"

import "trainsim/interconnect"

// MemoryBytes returns the device memory that NCCL holds on each GPU for this
// communicator once the operations given have been used: the buffers of its
// connections (NCCL 2.30: 10 MiB where data arrives and 2 MiB where it leaves,
// for each channel of a ring), NVLink SHARP's, and those of point-to-point
// exchanges with every peer. A single rank and copies through host memory need
// none.
func (c *shape) MemoryBytes(ops ...Op) int64 {
	if len(c.devices) < 2 {
		return 0
	}
	var sum int64
	var ring, exchange, switches bool
	for _, op := range ops {
		switch op {
		case AllToAll, SendRecv:
			exchange = true
		default:
			ring = true
			switches = switches || c.usesSharp(op)
		}
	}
	if ring {
		sum += c.ringMemory()
	}
	if switches {
		heads := int64(min(c.largest, maxHeads))
		sum += int64(c.nvlsChannels()) * 2 * 8 * (128 << 10) * heads
	}
	if exchange {
		sum += c.exchangeMemory()
	}
	return sum
}

// usesSharp says whether NCCL takes NVLink SHARP for an operation at some size.
func (c *shape) usesSharp(op Op) bool {
	for bytes := int64(1 << 20); bytes <= 1<<34; bytes *= 4 {
		if best, ok := c.tuner.choose(op, bytes); ok && (best.algorithm.sharp()) {
			return true
		}
	}
	return false
}

// simpleBuffer is the Simple protocol's buffer of a connection.
func (c *shape) simpleBuffer() int64 {
	if c.settings.BuffSize > 0 {
		return int64(c.settings.BuffSize)
	}
	return 4 * mib
}

const (
	lowLatencyBuffers = 524288 + 4915200 // LL and LL128
	headBytes         = 4096             // flags of a connection
	granularity       = 2 * mib          // of device memory
)

// arriving and sending are what a connection over peer-to-peer copies takes on
// its receiver and on its sender.
func (c *shape) arriving() int64 {
	return roundUp(headBytes + lowLatencyBuffers + c.simpleBuffer())
}

func (c *shape) sending() int64 { return roundUp(headBytes) }

func roundUp(n int64) int64 { return (n + granularity - 1) / granularity * granularity }

// ringMemory is that of the rings: a connection in and one out for each
// channel. On several nodes some channels leave through the network, whose
// senders hold buffers too.
func (c *shape) ringMemory() int64 {
	channels := int64(c.tuner.channels)
	if c.worst > c.level && len(c.groups) == 1 {
		return 0
	}
	sum := channels * (c.arriving() + c.sending())
	if len(c.groups) == 1 {
		return sum
	}
	crossing := (channels + int64(c.largest) - 1) / int64(c.largest)
	if c.t.Config().NoGPUDirect {
		return sum - crossing*(c.arriving()+c.sending())
	}
	return sum + crossing*(roundUp(headBytes+4915200+c.simpleBuffer())-c.sending())
}

// exchangeMemory is that of point-to-point connections with every peer, on the
// channels that NCCL gives a peer; between nodes all peers share one pool a
// direction.
func (c *shape) exchangeMemory() int64 {
	local := int64(c.largest - 1)
	sum := local * c.peerChannels() * (c.arriving() + c.sending())
	if len(c.groups) > 1 {
		sum += 2 * int64(c.p2pChannels()) * 16 * (128 << 10)
	}
	if c.worst > c.level && len(c.groups) == 1 {
		return 0
	}
	return sum
}

// peerChannels is the number of channels for one peer: two for each NVLink of
// the pair, up to all; two over PCIe. Across nodes that NVSwitches join they are
// halved until all peers fit into one round of the channels.
func (c *shape) peerChannels() int64 {
	if c.worst > interconnect.PathNVB || c.largest < 2 {
		return 2
	}
	several := slices.IndexFunc(c.groups, func(g group) bool { return len(g.places) > 1 })
	devices := c.members(c.groups[several].footprint)
	want, n := 2*c.t.NVLinksVia(devices[0], devices[1]), 1
	for n < want && n < c.p2pChannels() {
		n *= 2
	}
	if c.severalTrays(devices) {
		for n > 1 && n*(c.largest-1) > c.p2pChannels() {
			n /= 2
		}
	}
	return int64(n)
}
