package machines

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"trainsim/interconnect"
	"trainsim/scenarios"
	"trainsim/sim/gpu"
	"trainsim/sim/input"
)

// builtinCluster is a cluster preset with its device.
type builtinCluster struct {
	name   string
	about  string // its description
	config *interconnect.Config
	gpu    *gpu.Device
}

// builtinClusters are the built-in clusters, in the order of their names.
var builtinClusters = sync.OnceValue(func() []builtinCluster {
	var out []builtinCluster
	entries, err := scenarios.List("clusters")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if c, d, err := scenarios.LoadCluster(e.Name); err == nil {
			out = append(out, builtinCluster{e.Name, e.Description, c, d})
		}
	}
	return out
})

// reference is how a maker's reference system is named.
var reference = regexp.MustCompile(`^(dgx|hgx)\d?-[a-z]+\d+(-nvl\d+)?$`)

// ownWays are networks on which NCCL runs by a plugin or driver of their own and
// does otherwise than on InfiniBand and RoCE; a cluster's description names its.
var ownWays = []string{"tcpxo", "tcpx", "omni-path", "efa"}

// network returns which of them the words name, empty for none.
func network(words string) string {
	low := strings.ToLower(words)
	for _, n := range ownWays {
		if strings.Contains(low, n) {
			return n
		}
	}
	return ""
}

// findCluster returns the built-in cluster that stands for nodes of a GPU, of
// which perNode take part (0: any). The words about the machine decide if every
// part of a cluster's name is among them, as in "AWS p5en". If they say no more
// than the GPU, it is the machine named after the GPU for one node, and for
// several the one with the network that the words name, or else the maker's
// reference system (DGX or HGX). The GPU's name may leave the memory's size out,
// which no link depends on; where it leaves out whether it is a card in a slot,
// what the words say of NVLink and NVSwitches decides, and a machine that is all
// NVLink is taken where they say nothing.
func findCluster(gpuType, machine string, nodes, perNode int) (string, error) {
	words := wordsOf(gpuType + " " + machine)
	usual, rank := "", 0
	device, _ := FindGPU(gpuType)
	for _, c := range builtinClusters() {
		links, possible := c.joinedAs(machine)
		if !possible || !Means(c.gpu, gpuType) || device != nil && device.Name != c.gpu.Name || nodes > 1 &&
			c.config.NICs == 0 || perNode > c.config.DomainSize() {
			continue
		}
		if named(c.name, words) {
			return c.name, nil
		}
		if r := 2*c.suits(machine, nodes) + links; r > max(rank, 1) {
			usual, rank = c.name, r
		}
	}
	if usual == "" {
		what := fmt.Sprintf("%d nodes of %s", nodes, input.Quote(gpuType))
		if perNode > 0 {
			what = fmt.Sprintf("%d nodes of %d %s", nodes, perNode, input.Quote(gpuType))
		}
		return "", fmt.Errorf("there is no cluster preset for %s; name one (trainsim list clusters)", what)
	}
	return usual, nil
}

// suits ranks a cluster for words that do not name it; 0 is not at all.
func (c *builtinCluster) suits(machine string, nodes int) int {
	way := network(machine)
	switch {
	case nodes > 1 && way != "" && network(c.about) == way:
		return 3
	case nodes == 1 && scenarios.OneNode(c.name):
		return 2
	case reference.MatchString(c.name):
		return 1
	}
	return 0
}

// joinedAs says whether a cluster's GPUs are joined as the words state, and
// prefers (1) the usual of what they leave open.
func (c *builtinCluster) joinedAs(machine string) (preferred int, possible bool) {
	low := strings.ToLower(machine)
	has := func(s string) bool { return strings.Contains(low, s) }
	kind := c.config.Kind
	slots, pairs := kind == interconnect.PCIe, kind == interconnect.NVLinkPairs
	whole := !slots && !pairs
	switch {
	case has("no nvlink") || has("without nvlink"):
		return 0, slots
	case has("bridge") || has("pair"):
		return one(pairs), !whole
	case has("nvswitch") && !has("no nvswitch"):
		return 0, kind == interconnect.NVSwitch
	case has("nvlink"):
		return one(whole), !slots
	case has("pcie"):
		return one(slots), true
	}
	return one(whole), true
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// named reports whether every part of a cluster's name is among the words.
func named(name string, words []string) bool {
	for _, part := range strings.Split(name, "-") {
		if !slices.Contains(words, part) {
			return false
		}
	}
	return true
}
