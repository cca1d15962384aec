package interconnect

import (
	"fmt"
	"sync"

	"trainsim/sim"
)

// LinkID is the index of a link in Topology.Links.
type LinkID int32

// LinkKind says what a link is made of.
type LinkKind uint8

// Kinds of links.
const (
	LinkNVLink LinkKind = iota // GPU to GPU, or GPU to NVSwitch
	LinkPCIe                   // device or switch to what is above it
	LinkSocket                 // socket to socket
	LinkMemory                 // a socket's host memory
	LinkNIC                    // network card to fabric
	LinkFabric                 // leaf switch to the rest of the fabric
)

var linkKindNames = []string{"nvlink", "pcie", "socket", "memory", "nic", "fabric"}

// String returns the kind's name.
func (k LinkKind) String() string { return nameOf(int(k), linkKindNames) }

// Link is one direction of a connection.
type Link struct {
	Name     string
	Kind     LinkKind
	Capacity float64 // bytes a second that copies reach
	Latency  sim.Time
}

// LinkUse says how many bytes of a link one byte of a transfer's progress takes.
type LinkUse struct {
	Link   LinkID
	Weight float64
}

// Topology is a cluster's links and the routes over them. It does not change
// once built and may be shared by runs on several goroutines.
type Topology struct {
	cfg    Config
	node   nodeShape
	links  []Link
	fabric fabricShape

	mu    sync.Mutex
	sends map[sendKey]*sendWay
}

// Build makes the topology of a configuration. The error joins all problems
// that Validate finds.
func Build(c Config) (*Topology, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	c = c.withDefaults()
	t := &Topology{cfg: c, node: newNodeShape(&c)}
	for n := range c.Nodes {
		for _, l := range t.node.links {
			l.Name = fmt.Sprintf("node%d/%s", n, l.Name)
			t.links = append(t.links, l)
		}
	}
	t.addFabric()
	return t, nil
}

// Config returns the configuration with all defaults written out.
func (t *Topology) Config() Config { return t.cfg }

// Links returns all links, indexed by LinkID. The caller must not change them.
func (t *Topology) Links() []Link { return t.links }

// Devices returns the number of GPUs that a job sees in the whole cluster.
// Devices are numbered node by node.
func (t *Topology) Devices() int { return t.cfg.Nodes * len(t.node.visible) }

// Nodes returns the number of machines.
func (t *Topology) Nodes() int { return t.cfg.Nodes }

// NodeOf returns the machine that a device is in.
func (t *Topology) NodeOf(device int) int { return device / len(t.node.visible) }

// local returns the physical GPU of a device inside its node.
func (t *Topology) local(device int) int { return t.node.visible[device%len(t.node.visible)] }

// global turns a link of the node's shape into the link of one node.
func (t *Topology) global(node int, l LinkID) LinkID {
	return LinkID(node*len(t.node.links)) + l
}
