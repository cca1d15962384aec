package nccl

import (
	"errors"
	"fmt"
	"sync"

	"trainsim/interconnect"
)

// Communicator is a group of devices that run collectives together, with its
// rings searched. It is safe for concurrent use.
type Communicator struct {
	*shape
	base interconnect.LinkID
}

// Base returns the link from which on the links of the communicator's plans are
// numbered.
func (c *Communicator) Base() interconnect.LinkID { return c.base }

// Shape names what communicators with the same plans, on links of other domains,
// have in common.
type Shape struct{ of *shape }

// Shape returns that of the communicator.
func (c *Communicator) Shape() Shape { return Shape{c.shape} }

// shape is what communicators on the same places of different domains have in
// common: all but the numbers of their links. Its devices are those of the group
// that begins in the first domain.
type shape struct {
	lib      *Library
	t        *interconnect.Topology
	settings *Settings
	devices  []int                 // in rank order
	level    interconnect.PathType // farthest path of peer-to-peer copies

	groups            []group
	largest, smallest int // devices of a node
	rings             []ring
	bonds             [][]int               // NVLinks between the devices of a mesh
	cycles            [][]int               // rings packed into a mesh; nil elsewhere
	worst             interconnect.PathType // farthest hop inside a node
	tuner             *tuner
	hierarchy         *hierarchy // nil unless the settings ask for it

	mu      sync.Mutex
	traffic map[trafficKey]*traffic
	plans   map[planKey]*Plan
}

type planKey struct {
	op    Op
	bytes int64
}

// newShape looks at where devices are and searches rings and trees.
func newShape(l *Library, devices []int) (*shape, error) {
	c := &shape{
		lib: l, t: l.t, settings: &l.settings, devices: devices,
		traffic: make(map[trafficKey]*traffic), plans: make(map[planKey]*Plan),
	}
	if err := c.makeGroups(); err != nil {
		return nil, err
	}
	c.level = l.p2pLevel(c.largest)
	if c.level < interconnect.PathNVL && c.severalTrays(devices) {
		return nil, errors.New(
			"nccl: without peer-to-peer copies an NVLink domain over several nodes falls apart; leave p2p_level " +
				"and p2p_disable out, or write cluster.nvlink_domain = 0")
	}
	c.searchRings()
	c.worst = c.worstHop()
	c.tuner = c.newTuner()
	if !c.settings.wantsHierarchy() || len(devices) < 2 {
		return c, nil
	}
	h, err := c.newHierarchy()
	if err != nil {
		return nil, err
	}
	c.hierarchy = h
	c.tuner.algorithms = nil
	return c, nil
}

// Size returns the number of ranks.
func (c *shape) Size() int { return len(c.devices) }

// Plan returns a collective's plan; bytes is the size of the full vector. Plans
// are cached, and shared by communicators that are alike: their links are
// numbered from Base.
func (c *shape) Plan(op Op, bytes int64) *Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := planKey{op, bytes}
	p := c.plans[key]
	if p == nil {
		p = c.plan(op, bytes)
		c.plans[key] = p
	}
	return p
}

// Call returns a collective's plan with its base.
func (c *Communicator) Call(op Op, bytes int64) Call { return Call{c.Plan(op, bytes), c.base} }

// Call is a plan on the links of one communicator or one pair of devices.
type Call struct {
	*Plan
	// Base is the link from which on the plan's links are numbered.
	Base interconnect.LinkID
}

// Limit returns the link that limits the call when it is alone; ok is false when
// it crosses none.
func (c *Call) Limit(t *interconnect.Topology) (l interconnect.Link, ok bool) {
	if c.Bottleneck < 0 {
		return interconnect.Link{}, false
	}
	return t.Link(c.Base + c.Bottleneck), true
}

// twice is the error for a device that a communicator lists twice.
func (c *shape) twice(device int) error {
	return fmt.Errorf("device %d is in the communicator twice", device)
}
