package interconnect

import (
	"fmt"
	"iter"
	"strconv"

	"trainsim/sim"
	"trainsim/sim/gpu/generation"
)

// LinkID is the number of a link of a topology, from 0. The links of a domain are
// numbered alike in every domain, those of the fabric come last.
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

// RateKeys names the keys of a Config that set the rate of links of the kind.
func (k LinkKind) RateKeys() string { return linkRateKeys[k] }

var linkRateKeys = [...]string{
	LinkNVLink: "nvlink_bandwidth or nvlink_efficiency", LinkPCIe: "pcie_bandwidth", LinkSocket: "socket_bandwidth",
	LinkMemory: "host_memory_bandwidth", LinkNIC: "nic_bandwidth or nic_efficiency", LinkFabric: "nic_bandwidth",
}

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
	cfg    Config // with defaults; a node of it is an NVLink domain
	given  Config // as given, with defaults
	domain domainShape
	fabric fabricShape
}

// Build makes the topology of a configuration. The error joins all problems
// that Validate finds.
func Build(c Config) (*Topology, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	given := c.withDefaults()
	c, trays := given.byDomain()
	t := &Topology{cfg: c, given: given, domain: newDomainShape(&c, trays)}
	t.addFabric()
	return t, nil
}

// Config returns the configuration with all defaults written out.
func (t *Topology) Config() *Config { return &t.given }

// Generation returns that of the GPUs.
func (t *Topology) Generation() *generation.Generation {
	return generation.Of(t.given.ComputeCapability)
}

// Links returns the number of links.
func (t *Topology) Links() int { return int(t.Base(t.Domains())) + len(t.fabric.links) }

// Base returns the first link of a domain.
func (t *Topology) Base(domain int) LinkID { return LinkID(domain * len(t.domain.links)) }

// Link returns a link with its name in the cluster.
func (t *Topology) Link(id LinkID) Link {
	l := *t.link(id)
	if id < t.Base(t.Domains()) {
		per := LinkID(len(t.domain.links))
		node := int(id/per)*t.domain.trays + t.domain.tray[id%per]
		l.Name = "node" + strconv.Itoa(node) + "/" + l.Name
	}
	return l
}

// All returns every link with its name.
func (t *Topology) All() iter.Seq2[LinkID, Link] {
	return func(yield func(LinkID, Link) bool) {
		for id := range LinkID(t.Links()) {
			if !yield(id, t.Link(id)) {
				return
			}
		}
	}
}

// link returns a link as all domains have it.
func (t *Topology) link(id LinkID) *Link {
	if fabric := id - t.Base(t.Domains()); fabric >= 0 {
		return &t.fabric.links[fabric]
	}
	return &t.domain.links[id%LinkID(len(t.domain.links))]
}

// Capacity returns the bytes a second that copies reach over a link.
func (t *Topology) Capacity(id LinkID) float64 { return t.link(id).Capacity }

// Devices returns the number of GPUs that a job sees in the whole cluster.
// Devices are numbered node by node.
func (t *Topology) Devices() int {
	return t.given.Nodes * (t.PerDomain() / t.domain.trays)
}

// Nodes returns the number of machines.
func (t *Topology) Nodes() int { return t.given.Nodes }

// Domains returns the number of NVLink domains: racks where NVSwitches join
// several nodes, nodes elsewhere.
func (t *Topology) Domains() int { return t.cfg.Nodes }

// PerDomain returns the number of GPUs that a job sees in an NVLink domain.
func (t *Topology) PerDomain() int { return len(t.domain.visible) }

// DomainOf returns the NVLink domain that a device is in: its machine, or its
// rack where NVSwitches join several machines.
func (t *Topology) DomainOf(device int) int { return device / t.PerDomain() }

// gpu returns the physical GPU of a device inside its domain.
func (t *Topology) gpu(device int) int { return t.domain.visible[device%t.PerDomain()] }
