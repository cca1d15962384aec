package interconnect

import (
	"fmt"
	"strings"
)

// Kind says how the GPUs of one node are joined.
type Kind uint8

// Kinds of nodes.
const (
	// PCIe has no NVLink.
	PCIe Kind = iota
	// NVSwitch joins all GPUs of a node at their full NVLink rate.
	NVSwitch
	// NVLinkMesh joins every pair of a node directly, the links of a GPU
	// spread evenly over its peers.
	NVLinkMesh
	// NVLinkPairs joins GPUs 0 and 1, 2 and 3, and so on by bridges.
	NVLinkPairs
	// Islands joins groups of IslandSize GPUs as a mesh each.
	Islands
	// CubeMesh is the hybrid cube mesh of DGX-1 with V100: 8 GPUs, 6 links.
	CubeMesh
)

var kindNames = []string{"pcie", "nvswitch", "nvlink-mesh", "nvlink-pairs", "islands", "cube-mesh"}

// String returns the kind as it is written in a scenario.
func (k Kind) String() string { return nameOf(int(k), kindNames) }

// UnmarshalText reads a kind.
func (k *Kind) UnmarshalText(text []byte) error {
	i, err := indexOf("node kind", string(text), kindNames)
	*k = Kind(i)
	return err
}

// MarshalText writes a kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Affinity says where a node's network cards are attached.
type Affinity uint8

// Affinities of network cards.
const (
	// Rail puts each card on the PCIe switch of its GPUs; card i of every
	// node is on rail i.
	Rail Affinity = iota
	// Shared puts each card on a root port of its own on the socket of the
	// GPUs that share it.
	Shared
	// OffSocket puts all cards on the last socket, far from half of the GPUs.
	OffSocket
)

var affinityNames = []string{"rail", "shared", "off-socket"}

// String returns the affinity as it is written in a scenario.
func (a Affinity) String() string { return nameOf(int(a), affinityNames) }

// UnmarshalText reads an affinity.
func (a *Affinity) UnmarshalText(text []byte) error {
	i, err := indexOf("NIC affinity", string(text), affinityNames)
	*a = Affinity(i)
	return err
}

// MarshalText writes an affinity.
func (a Affinity) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Fabric is the shape of the network between nodes.
type Fabric uint8

// Fabrics.
const (
	// NonBlocking carries what the cards can send, whoever the receiver is.
	NonBlocking Fabric = iota
	// FatTree has leaf switches with NodesPerLeaf nodes each, whose uplinks
	// are narrower by Oversubscription.
	FatTree
	// Rails has a leaf switch for each rail (card i of all nodes below it);
	// traffic between rails or between groups of nodes uses the uplinks.
	Rails
)

var fabricNames = []string{"non-blocking", "fat-tree", "rails"}

// String returns the fabric as it is written in a scenario.
func (f Fabric) String() string { return nameOf(int(f), fabricNames) }

// UnmarshalText reads a fabric.
func (f *Fabric) UnmarshalText(text []byte) error {
	i, err := indexOf("fabric", string(text), fabricNames)
	*f = Fabric(i)
	return err
}

// MarshalText writes a fabric.
func (f Fabric) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

func nameOf(i int, names []string) string {
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return "unknown"
}

func indexOf(what, text string, names []string) (int, error) {
	for i, name := range names {
		if strings.EqualFold(name, text) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q; write one of %s", what, text, strings.Join(names, ", "))
}
