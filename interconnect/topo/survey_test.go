package topo

import (
	"fmt"
	"testing"

	"trainsim/interconnect"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSurvey(t *testing.T) {
	for _, c := range []struct {
		name       string
		cc         int
		ring       string
		bottleneck string
		groups     string
		joined     interconnect.PathType
	}{
		{"dgx-h100-8gpu-12nic-tabs", 90, "[0 1 2 3 4 5 6 7]", "NV18 450", "[[0 1 2 3 4 5 6 7]]", interconnect.PathNVL},
		{"a100-4gpu-nv4-nonic", 80, "[0 1 2 3]", "NV4 100", "[[0 1 2 3]]", interconnect.PathNVL},
		{"CONSTRUCTED-h200nvl-8gpu-2x4-islands", 90, "[0 1 2 3 4 5 6 7]", "SYS 16", "[[0 1 2 3] [4 5 6 7]]", interconnect.PathNVL},
		{"h100nvl-8gpu-4pairs-2nic", 90, "[0 1 2 3 4 5 6 7]", "SYS 16", "[[0 1] [2 3] [4 5] [6 7]]", interconnect.PathNVL},
		{"pcie-8gpu-pix-node-sys", 86, "[0 1 2 3 4 5 6 7]", "SYS 16", "[[0 1] [2 3] [4 5] [6 7]]", interconnect.PathPIX},
		{"l40s-4gpu-2nic", 89, "[0 1 2 3]", "SYS 16", "[[0 1] [2 3]]", interconnect.PathNODE},
		{"rtx4090-8gpu-allsys-tabs", 89, "[0 1 2 3 4 5 6 7]", "SYS 16", "[[0 1 2 3 4 5 6 7]]", interconnect.PathSYS},
		{"h100pcie-vm-1gpu-1nic", 90, "[0]", "X 0", "[[0]]", interconnect.PathSYS},
		{"v100-sxm2-8gpu-cubemesh-driver440", 70, "[0 3 2 1 5 6 7 4]", "NV2 50", "[[0 1 2 3 4 5 6 7]]", interconnect.PathNVL},
	} {
		top, err := interconnect.Build(interconnect.Config{Topology: parseTopo(t, c.name), ComputeCapability: c.cc})
		require.NoError(t, err)
		s, err := NewSurvey(top)
		require.NoError(t, err)
		assert.Equal(t, c.ring, fmt.Sprint(s.Ring), c.name)
		assert.Equal(t, c.bottleneck, fmt.Sprintf("%v %g", s.Bottleneck.Cell, s.Bottleneck.BytesPerSec/1e9), c.name)
		assert.Equal(t, c.groups, fmt.Sprint(s.Groups), c.name)
		assert.Equal(t, c.joined, s.Joined, c.name)
	}
}

// TestBestOrder finds the ring through a box whose neighbours are numbered
// apart.
func TestBestOrder(t *testing.T) {
	m := parseTopo(t, "pcie-8gpu-pix-node-sys")
	shuffle := []int{0, 4, 2, 6, 1, 5, 3, 7}
	mixed := &interconnect.Matrix{GPUNames: m.GPUNames, NUMA: make([]int, 8), CPUs: make([]string, 8)}
	for i, a := range shuffle {
		row := make([]interconnect.Cell, 8)
		for j, b := range shuffle {
			row[j] = m.Cells[a][b]
		}
		mixed.Cells = append(mixed.Cells, row)
		mixed.NUMA[i] = m.NUMA[a]
	}
	top, err := interconnect.Build(interconnect.Config{Topology: mixed})
	require.NoError(t, err)
	s, err := NewSurvey(top)
	require.NoError(t, err)
	crossings := 0
	for i, a := range s.Ring {
		if mixed.Cells[a][s.Ring[(i+1)%8]].Type == interconnect.PathSYS {
			crossings++
		}
	}
	assert.Equal(t, 2, crossings, "once there and once back: %v", s.Ring)
}
