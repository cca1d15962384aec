package interconnect

import (
	"errors"
	"fmt"
	"sync"
)

// Communicator is a group of devices that run collectives together, with its
// rings searched. It is safe for concurrent use.
type Communicator struct {
	t        *Topology
	devices  []int
	settings Settings
	level    PathType // farthest path of peer-to-peer copies

	groups            []group
	largest, smallest int // devices of a node
	rings             []ring
	bonds             [][]int  // NVLinks between the devices of a mesh
	cycles            [][]int  // rings packed into a mesh; nil elsewhere
	worst             PathType // farthest hop inside a node
	tuner             *tuner
	hierarchy         *hierarchy // nil unless the settings ask for it

	mu      sync.Mutex
	traffic map[trafficKey]*traffic
	plans   map[planKey]Plan
}

type planKey struct {
	op    Op
	bytes int64
}

// Communicator makes the group of devices, in rank order, under the settings,
// which must leave a way to run an all-reduce.
func (t *Topology) Communicator(devices []int, s Settings) (*Communicator, error) {
	return t.CommunicatorFor(AllReduce, devices, s)
}

// CommunicatorFor makes the group of devices, in rank order, for one operation,
// which the settings must leave a way to run.
func (t *Topology) CommunicatorFor(op Op, devices []int, s Settings) (*Communicator, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("nccl.%w", err)
	}
	if err := t.checkDevices(devices); err != nil {
		return nil, err
	}
	c := &Communicator{
		t: t, devices: append([]int(nil), devices...), settings: s,
		traffic: make(map[trafficKey]*traffic), plans: make(map[planKey]Plan),
	}
	c.makeGroups()
	c.level = t.p2pLevel(s, c.largest)
	if c.level < PathNVL && t.spanning(devices) {
		return nil, errors.New("nccl: without peer-to-peer copies an NVLink domain over several nodes falls apart; leave p2p_level and p2p_disable out, or write cluster.nvlink_domain = 0")
	}
	c.searchRings()
	c.worst = c.worstHop()
	c.tuner = c.newTuner()
	if s.wantsHierarchy() && len(devices) > 1 {
		h, err := c.newHierarchy()
		if err != nil {
			return nil, err
		}
		c.hierarchy = h
		c.tuner.algorithms = nil
	}
	if _, ok := c.tuner.choose(op, 1); len(devices) > 1 && !ok && op <= Reduce {
		return nil, fmt.Errorf("nccl: no algorithm and protocol is left for %v over %d devices; allow more in algo and proto", op, len(devices))
	}
	return c, nil
}

// checkDevices refuses devices that do not exist or are listed twice.
func (t *Topology) checkDevices(devices []int) error {
	if len(devices) == 0 {
		return errors.New("a communicator needs at least one device")
	}
	seen := make(map[int]bool, len(devices))
	for _, d := range devices {
		if d < 0 || d >= t.Devices() {
			return fmt.Errorf("device %d does not exist: the cluster has devices 0 to %d", d, t.Devices()-1)
		}
		if seen[d] {
			return fmt.Errorf("device %d is in the communicator twice", d)
		}
		seen[d] = true
	}
	return nil
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
	p := Plan{Op: op, Algorithm: Ring, Protocol: Simple, Message: bytes, Bottleneck: none, BusFactor: op.BusFactor(n)}
	if n < 2 || bytes <= 0 || c.settings.Model == "free" {
		return p
	}
	switch {
	case op == AllReduce && c.hierarchy != nil:
		c.hierarchicalPlan(&p)
	case c.settings.Model == "ideal":
		c.idealPlan(&p)
	case op == AllToAll || op == SendRecv:
		c.exchangePlan(&p)
	default:
		c.ncclPlan(&p)
	}
	return p
}
