package interconnect

import "fmt"

// addNVLink adds the NVLinks of a node: ports to the switches, or a direct
// link for every joined pair.
func (n *domainShape) addNVLink(c *Config) {
	n.mesh = newLinkTable(len(n.gpus))
	n.bonded = bondsOf(c)
	one := Link{
		Kind: LinkNVLink, Capacity: float64(c.NVLinkBandwidth) * c.NVLinkEfficiency, Latency: c.NVLinkLatency,
	}
	for _, row := range n.bonded {
		sum := 0
		for _, k := range row {
			sum += k
		}
		n.nvlinks = max(n.nvlinks, sum)
	}
	if switched(c) {
		n.nvlinks = switchLinks(c)
		n.addSwitchedNVLink(one, n.nvlinks)
		return
	}
	for a := range n.gpus {
		for b := range n.gpus {
			if k := n.bonded[a][b]; k > 0 && a != b {
				l := one
				l.Capacity *= float64(k)
				n.mesh[a][b] = n.add(l, "gpu", a, len(n.gpus), fmt.Sprintf("nvlink/to-gpu%d", b))
			}
		}
	}
}

func (n *domainShape) addSwitchedNVLink(one Link, links int) {
	for g := range n.gpus {
		l := one
		l.Capacity *= float64(links)
		l.Latency = one.Latency / 2
		n.gpus[g].nvlink.up = n.add(l, "gpu", g, len(n.gpus), "nvlink/out")
		l.Latency = one.Latency - one.Latency/2
		n.gpus[g].nvlink.down = n.add(l, "gpu", g, len(n.gpus), "nvlink/in")
	}
}

// switchLinks is the number of NVLinks of a GPU on NVSwitches.
func switchLinks(c *Config) int {
	if c.Topology != nil {
		return c.Topology.Cells[0][1].Links
	}
	return c.NVLinks
}

// switched says whether NVSwitches join the GPUs of a node.
func switched(c *Config) bool {
	if c.Topology != nil {
		return c.Topology.switched()
	}
	return c.Kind == NVSwitch
}

// bondsOf returns how many NVLinks join each pair of GPUs.
func bondsOf(c *Config) [][]int {
	bonds := make([][]int, c.GPUsPerNode)
	for i := range bonds {
		bonds[i] = make([]int, c.GPUsPerNode)
	}
	if c.Topology != nil {
		for a := range bonds {
			for b := range bonds {
				bonds[a][b] = c.Topology.Cells[a][b].Links
			}
		}
		return bonds
	}
	size, links := c.GPUsPerNode, c.NVLinks
	switch c.Kind {
	case PCIe:
		return bonds
	case NVSwitch:
		fillIslands(bonds, size, links)
	case NVLinkMesh:
		fillIslands(bonds, size, links/max(1, size-1))
	case NVLinkPairs:
		fillIslands(bonds, 2, links)
	case Islands:
		fillIslands(bonds, c.IslandSize, links/(c.IslandSize-1))
	case CubeMesh:
		fillCubeMesh(bonds)
	}
	return bonds
}

// fillIslands joins every pair inside each group of size GPUs.
func fillIslands(bonds [][]int, size, links int) {
	for a := range bonds {
		for b := range bonds {
			if a != b && a/size == b/size {
				bonds[a][b] = links
			}
		}
	}
}

// cubeMeshBonds are the NVLinks of DGX-1 with V100 (the matrix that
// `nvidia-smi topo -m` prints on one): two quads, each a mesh of six pairs,
// and four double links between the quads.
var cubeMeshBonds = [][3]int{
	{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2}, {2, 6, 1},
	{3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2},
}

func fillCubeMesh(bonds [][]int) {
	for _, b := range cubeMeshBonds {
		bonds[b[0]][b[1]] = b[2]
		bonds[b[1]][b[0]] = b[2]
	}
}
