package interconnect

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/gpu/generation"
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
	links  []Link
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
	for d := range c.Nodes {
		for i, l := range t.domain.links {
			l.Name = fmt.Sprintf("node%d/%s", d*trays+t.domain.tray[i], l.Name)
			t.links = append(t.links, l)
		}
	}
	t.addFabric()
	return t, nil
}

// Config returns the configuration with all defaults written out.
func (t *Topology) Config() *Config { return &t.given }

// Generation returns that of the GPUs.
func (t *Topology) Generation() *generation.Generation {
	return generation.Of(t.given.ComputeCapability)
}

// Links returns all links, indexed by LinkID. The caller must not change them.
func (t *Topology) Links() []Link { return t.links }

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

// global turns a link of the domain's shape into the link of one domain.
func (t *Topology) global(domain int, l LinkID) LinkID {
	return LinkID(domain*len(t.domain.links)) + l
}
