package interconnect

import (
	"strconv"
	"strings"
)

// Matrix is a machine's table of paths between its GPUs and network cards, as
// `nvidia-smi topo -m` prints it.
type Matrix struct {
	// GPUNames and NICNames are the devices in the order of the table.
	GPUNames, NICNames []string
	// Cells[i][j] is the path from device i to device j, GPUs first, then NICs.
	Cells [][]Cell
	// NUMA is the NUMA node of each GPU, -1 where the table does not say.
	NUMA []int
	// CPUs is the CPU affinity of each GPU as printed, "" where absent.
	CPUs []string
}

// Cell is one entry of a Matrix.
type Cell struct {
	Type  PathType
	Links int // number of bonded NVLinks when Type is PathNVL
}

// String returns the cell as nvidia-smi prints it.
func (c Cell) String() string {
	if c.Type == PathNVL {
		return "NV" + strconv.Itoa(c.Links)
	}
	return c.Type.String()
}

// GPUs returns the number of GPUs.
func (m *Matrix) GPUs() int { return len(m.GPUNames) }

// NICs returns the number of network cards.
func (m *Matrix) NICs() int { return len(m.NICNames) }

// switched says whether every pair of GPUs has the same NVLinks and more of
// them than a mesh of that size could give: then NVSwitches join them. Eight
// NV12 pairs would need 84 links a GPU.
func (m *Matrix) switched() bool {
	n := m.GPUs()
	if n < 3 {
		return false
	}
	links := m.Cells[0][1].Links
	for a := range n {
		for b := range n {
			if a != b && m.Cells[a][b].Links != links {
				return false
			}
		}
	}
	return links*(n-1) > MaxNVLinks
}

// MaxNVLinks is the largest number of NVLinks that a GPU has (18 on H100,
// H200 and B200).
const MaxNVLinks = 18

// String returns the table as nvidia-smi writes it, with TABs.
func (m *Matrix) String() string {
	var b strings.Builder
	for _, name := range m.Names() {
		b.WriteString("\t" + name)
	}
	b.WriteString("\tCPU Affinity\tNUMA Affinity\n")
	for i, name := range m.Names() {
		b.WriteString(name)
		for _, c := range m.Cells[i] {
			b.WriteString("\t" + c.String())
		}
		if i < m.GPUs() {
			numa := "N/A"
			if m.NUMA[i] >= 0 {
				numa = strconv.Itoa(m.NUMA[i])
			}
			b.WriteString("\t" + m.CPUs[i] + "\t" + numa)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Names returns all devices, GPUs first.
func (m *Matrix) Names() []string {
	return append(append([]string(nil), m.GPUNames...), m.NICNames...)
}
