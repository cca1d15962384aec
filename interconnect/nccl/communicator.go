package nccl

import (
	"errors"
	"sync"

	"trainsim/interconnect"
)

// Communicator is a group of devices that run collectives together, with its
// rings searched. It is safe for concurrent use.
type Communicator struct {
	lib      *Library
	t        *interconnect.Topology
	settings *Settings
	devices  []int
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
	plans   map[planKey]Plan
}

type planKey struct {
	op    Op
	bytes int64
}

// init looks at where the devices are and searches rings and trees.
func (c *Communicator) init() error {
	c.makeGroups()
	c.level = c.lib.p2pLevel(c.largest)
	if c.level < interconnect.PathNVL && c.severalTrays(c.devices) {
		return errors.New("nccl: without peer-to-peer copies an NVLink domain over several nodes falls apart; leave p2p_level and p2p_disable out, or write cluster.nvlink_domain = 0")
	}
	c.searchRings()
	c.worst = c.worstHop()
	c.tuner = c.newTuner()
	if !c.settings.wantsHierarchy() || len(c.devices) < 2 {
		return nil
	}
	h, err := c.newHierarchy()
	c.hierarchy = h
	c.tuner.algorithms = nil
	return err
}

// Size returns the number of ranks.
func (c *Communicator) Size() int { return len(c.devices) }

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
