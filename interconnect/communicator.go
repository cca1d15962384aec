package interconnect

import (
	"fmt"
	"sync"

	"trainsim/sim"
)

// Communicator is a group of devices that run collectives together, with its
// rings searched. It is safe for concurrent use.
type Communicator struct {
	t        *Topology
	devices  []int
	settings Settings
	level    PathType
	rings    []ring
	traffic  [numOps]traffic

	mu    sync.Mutex
	plans map[planKey]Plan
}

type planKey struct {
	op    Op
	bytes int64
}

// ring is one directed cycle over the devices of a communicator.
type ring struct {
	order []int   // devices
	share float64 // part of the bytes that it carries
}

// traffic is what one operation puts on links: the weights for one byte of the
// full vector.
type traffic struct {
	uses  []LinkUse
	hop   sim.Time // the slowest hop of a ring
	ready bool
}

// Communicator makes the group of devices, in rank order, under the settings.
func (t *Topology) Communicator(devices []int, s Settings) (*Communicator, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("nccl.%w", err)
	}
	if len(devices) == 0 {
		return nil, fmt.Errorf("a communicator needs at least one device")
	}
	seen := make(map[int]bool, len(devices))
	for _, d := range devices {
		if d < 0 || d >= t.Devices() {
			return nil, fmt.Errorf("device %d does not exist: the cluster has devices 0 to %d", d, t.Devices()-1)
		}
		if seen[d] {
			return nil, fmt.Errorf("device %d is in the communicator twice", d)
		}
		seen[d] = true
	}
	c := &Communicator{
		t: t, devices: append([]int(nil), devices...), settings: s, level: t.p2pLevel(s),
		plans: make(map[planKey]Plan),
	}
	c.rings = c.searchRings()
	return c, nil
}

// Size returns the number of ranks.
func (c *Communicator) Size() int { return len(c.devices) }

// Devices returns the devices in rank order.
func (c *Communicator) Devices() []int { return c.devices }

// Plan returns the transfer of one collective; bytes is the size of the full
// vector. Plans are cached.
func (c *Communicator) Plan(op Op, bytes int64) Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := planKey{op, bytes}
	if p, ok := c.plans[key]; ok {
		return p
	}
	p := c.plan(op, bytes)
	c.plans[key] = p
	return p
}

func (c *Communicator) plan(op Op, bytes int64) Plan {
	n := len(c.devices)
	p := Plan{Op: op, Algorithm: Ring, Protocol: Simple, Channels: 1, Message: bytes, Bottleneck: none, BusFactor: op.BusFactor(n)}
	if n < 2 || bytes <= 0 {
		return p
	}
	return c.idealPlan(p, op, bytes)
}

// MemoryBytes returns the device memory that NCCL holds on each GPU for this
// communicator when the operations given are used.
func (c *Communicator) MemoryBytes(ops ...Op) int64 {
	if len(c.devices) < 2 {
		return 0
	}
	return 0
}

// SendPlan returns the transfer of a point-to-point message between devices.
func (t *Topology) SendPlan(from, to int, bytes int64, s Settings) Plan {
	p := Plan{Op: SendRecv, Algorithm: Direct, Protocol: Simple, Channels: 1, Message: bytes, Bottleneck: none, BusFactor: 1}
	if from == to || bytes <= 0 {
		return p
	}
	r := t.route(from, to, t.p2pLevel(s))
	p.Latency = t.latency(r.uses)
	t.scale(&p, float64(bytes), 0, r.uses)
	return p
}

// latency returns the sum of the latencies of a route's links.
func (t *Topology) latency(uses []LinkUse) sim.Time {
	var sum sim.Time
	for _, u := range uses {
		sum += t.links[u.Link].Latency
	}
	return sum
}
