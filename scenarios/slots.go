package scenarios

import (
	"regexp"
	"sync"

	"trainsim/interconnect"
	"trainsim/sim/gpu"
	"trainsim/sim/input"
)

// slotKeys are the keys of a cluster that are its GPU's wherever the card stands,
// and that a topology does not tell.
var slotKeys = []string{"pcie_gen", "no_p2p"}

// oneNode is how a cluster is named that is one node of a GPU, as in l40s-8x.
var oneNode = regexp.MustCompile(`-\d+x$`)

// OneNode reports whether a cluster's name says that it is one node of a GPU.
func OneNode(cluster string) bool { return oneNode.MatchString(cluster) }

// gpuSlots gives the slot keys of each built-in GPU, as the built-in cluster of
// one node of it has them.
var gpuSlots = sync.OnceValue(func() map[string]*node {
	out := map[string]*node{}
	for _, name := range builtinNames("clusters") {
		if !OneNode(name) {
			continue
		}
		file := "clusters/" + name + ".toml"
		var problems input.Problems
		cluster := parseTOML(&input.Source{Name: file, Text: wholePreset("clusters", name)}, &problems)
		if device := cluster.get("gpu"); device != nil {
			out[device.text] = cluster.only(slotKeys)
		}
	}
	return out
})

// only returns a table of some of a table's keys, as values of a preset without
// a position.
func (n *node) only(keys []string) *node {
	out := newTable(input.Span{}, input.Span{})
	for _, k := range keys {
		if x := n.get(k); x != nil {
			out.put(k, x.clone())
		}
	}
	out.mark()
	out.unplace()
	return out
}

// SetGPU puts into a node what its GPU decides beside a topology, which does not
// tell it: the compute capability and, as the built-in cluster of the GPU has
// them, the generation of the slots and whether there are peer-to-peer copies.
func SetGPU(c *interconnect.Config, d *gpu.Device) {
	c.ComputeCapability = d.ComputeCapability
	slot := gpuSlots()[d.Name]
	if gen := slot.get("pcie_gen"); gen != nil {
		c.PCIeGen = int(gen.int)
	}
	if no := slot.get("no_p2p"); no != nil {
		c.NoP2P = no.bool
	}
}

// slots lays what the GPU decides beside a topology under [cluster].
func (l *loader) slots() {
	cluster := l.root.table("cluster")
	name := l.root.table("gpu").get("name")
	if cluster.get("topology") == nil || name == nil {
		return
	}
	if slot := gpuSlots()[name.text]; slot != nil {
		cluster.layUnder(slot.clone())
	}
}
