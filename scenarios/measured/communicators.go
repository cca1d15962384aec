package measured

import (
	"errors"
	"fmt"
	"sync"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/scenarios"
	"trainsim/sim"
)

// Communicators builds the communicators of measured collectives, each once.
// It is safe for concurrent use.
type Communicators struct {
	mu    sync.Mutex
	known map[string]*communicator
}

type communicator struct {
	once sync.Once
	comm *nccl.Communicator
	err  error
}

// Predict returns the time of a collective alone on its machine.
func (cs *Communicators) Predict(c *Collective) (sim.Time, error) {
	if c.Skipped != "" {
		return 0, errors.New(c.Skipped)
	}
	key := fmt.Sprintf("%v %s %d %d %v", c.Op, c.Cluster, c.Nodes, c.Devices, c.Settings)
	cs.mu.Lock()
	if cs.known == nil {
		cs.known = map[string]*communicator{}
	}
	m := cs.known[key]
	if m == nil {
		m = &communicator{}
		cs.known[key] = m
	}
	cs.mu.Unlock()
	m.once.Do(func() { m.build(c, c.Machine) })
	if m.err != nil {
		return 0, m.err
	}
	p := m.comm.Plan(c.Op, c.Bytes)
	return p.Uncontended(), nil
}

// build makes the topology, with as many GPUs of each node as take part.
func (m *communicator) build(c *Collective, config *interconnect.Config) {
	if config == nil {
		if config, _, m.err = scenarios.LoadCluster(c.Cluster); m.err != nil {
			return
		}
	}
	cfg := *config
	cfg.Nodes = c.Nodes
	used := c.Devices / c.Nodes
	if used > cfg.GPUsPerNode && used <= cfg.NVLinkDomain && c.Devices%cfg.GPUsPerNode == 0 {
		// The table counts a rack as one node.
		cfg.Nodes, used = c.Devices/cfg.GPUsPerNode, cfg.GPUsPerNode
	}
	if used > cfg.GPUsPerNode {
		m.err = fmt.Errorf("%d GPUs a node are more than the %d of cluster %q; name another", used, cfg.GPUsPerNode,
			c.Cluster)
		return
	}
	for i := range used {
		cfg.VisibleDevices = append(cfg.VisibleDevices, i)
	}
	var (
		t   *interconnect.Topology
		lib *nccl.Library
	)
	if t, m.err = interconnect.Build(cfg); m.err != nil {
		return
	}
	if lib, m.err = nccl.New(t, c.Settings); m.err != nil {
		return
	}
	m.comm, m.err = lib.Communicator(c.Op, nccl.First(c.Devices))
}
