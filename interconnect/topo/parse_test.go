package topo

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readTopo reads a table of testdata: outputs of nvidia-smi topo -m of
// known machines, rebuilt from public postings; those called CONSTRUCTED are
// invented for shapes that nobody posted whole.
func readTopo(t testing.TB, name string) string {
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	require.NoError(t, err)
	return string(text)
}

func parseTopo(t testing.TB, name string) *interconnect.Matrix {
	m, err := Parse(strings.NewReader(readTopo(t, name)))
	require.NoError(t, err, name)
	return m
}

func TestParseMachines(t *testing.T) {
	for _, c := range []struct {
		name       string
		gpus, nics int
		islands    string
		switched   bool
		numa       []int
	}{
		{"CONSTRUCTED-a100pcie-8gpu-4pairs-pxb", 8, 2, "[[0 1] [2 3] [4 5] [6 7]]", false, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		{"CONSTRUCTED-h200nvl-8gpu-2x4-islands", 8, 4, "[[0 1 2 3] [4 5 6 7]]", false, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		{"CONSTRUCTED-l40s-8gpu-pix-pxb-node-sys-4nic", 8, 4, "[[0] [1] [2] [3] [4] [5] [6] [7]]", false, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		{"a100-4gpu-nv4-4nic-mlxnames", 4, 4, "[[0 1 2 3]]", false, []int{0, 0, 0, 0}},
		{"a100-4gpu-nv4-4nic", 4, 4, "[[0 1 2 3]]", false, []int{0, 0, 0, 0}},
		{"a100-4gpu-nv4-nonic", 4, 0, "[[0 1 2 3]]", false, []int{3, 2, 1, 0}},
		{"a100-sxm4-8gpu-8nic-intel", 8, 8, "[[0 1 2 3 4 5 6 7]]", true, nil},
		{"dgx-a100-8gpu-10nic", 8, 10, "[[0 1 2 3 4 5 6 7]]", true, []int{3, 3, 1, 1, 7, 7, 5, 5}},
		{"dgx-h100-8gpu-12nic-tabs", 8, 12, "[[0 1 2 3 4 5 6 7]]", true, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		{"h100-4gpu-nv6-4nic", 4, 4, "[[0 1 2 3]]", false, []int{3, 1, 7, 5}},
		{"h100nvl-8gpu-4pairs-2nic", 8, 2, "[[0 1] [2 3] [4 5] [6 7]]", false, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		{"h100pcie-vm-1gpu-1nic", 1, 1, "[[0]]", false, []int{0}},
		{"l40s-4gpu-2nic", 4, 2, "[[0] [1] [2] [3]]", false, []int{0, 0, 1, 1}},
		{"pcie-8gpu-pix-node-sys", 8, 0, "[[0] [1] [2] [3] [4] [5] [6] [7]]", false, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		{"rtx4090-8gpu-allsys-tabs", 8, 2, "[[0] [1] [2] [3] [4] [5] [6] [7]]", false, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		{"v100-sxm2-8gpu-cubemesh-driver440", 8, 1, "[[0 1 2 3 4 5 6 7]]", false, []int{-1, -1, -1, -1, -1, -1, -1, -1}},
	} {
		m := parseTopo(t, c.name)
		assert.Equal(t, c.gpus, m.GPUs(), c.name)
		assert.Equal(t, c.nics, m.NICs(), c.name)
		if c.numa != nil {
			assert.Equal(t, c.numa, m.NUMA, c.name)
		}
		top, err := interconnect.Build(interconnect.Config{Topology: m, NVLinkBandwidth: 25e9})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.switched, top.Switched(), c.name)
		assert.Equal(t, c.islands, fmt.Sprint(top.Islands(nccl.First(c.gpus))), c.name)
		for a := range c.gpus {
			for b := range c.gpus {
				want := m.Cells[a][b].Type
				got := top.PathType(a, b)
				if got == interconnect.PathNVB {
					continue // NVLink through another GPU beats what the table says
				}
				assert.Equal(t, want, got, "%s GPU%d GPU%d", c.name, a, b)
			}
		}
	}
}

func TestParseDetails(t *testing.T) {
	m := parseTopo(t, "dgx-h100-8gpu-12nic-tabs")
	assert.Equal(t, interconnect.Cell{Type: interconnect.PathNVL, Links: 18}, m.Cells[0][7])
	assert.Equal(t, interconnect.Cell{Type: interconnect.PathPXB}, m.Cells[1][8+3])
	assert.Equal(t, "56-111,168-223", m.CPUs[7])
	assert.Equal(t, "6,14,22,30", parseTopo(t, "h100-4gpu-nv6-4nic").CPUs[0])
	assert.Equal(t, "mlx5_3", parseTopo(t, "a100-4gpu-nv4-4nic-mlxnames").NICNames[3])
}

// TestParseShapes mends what postings do to a table: each form must read as
// the plain one does.
func TestParseShapes(t *testing.T) {
	plain := parseTopo(t, "dgx-h100-8gpu-12nic-tabs")
	table := readTopo(t, "dgx-h100-8gpu-12nic-tabs")
	lines := strings.Split(table, "\n")
	edit := func(f func(i int, line string) string) string {
		out := make([]string, len(lines))
		for i, l := range lines {
			out[i] = f(i, l)
		}
		return strings.Join(out, "\n")
	}
	matrixOnly := strings.Join(lines[:21], "\n")
	forms := map[string]string{
		"no legend":        matrixOnly,
		"carriage returns": strings.ReplaceAll(table, "\n", "\r\n"),
		"comment marks":    edit(func(_ int, l string) string { return "#" + l }),
		"indented":         edit(func(_ int, l string) string { return "    " + strings.ReplaceAll(l, "\t", "    ") }),
		"leading space":    " " + table,
		"byte-order mark":  "\ufeff" + table,
		"shell prompt":     "user@host:~$ nvidia-smi topo -m\n" + table,
		"escapes inside":   edit(func(i int, l string) string { return underline(i, l, "\x1b[4m", "\x1b[0m\t") }),
		"escapes outside":  edit(func(i int, l string) string { return underline(i, l, "\t\x1b[4m", "\x1b[0m") }),
		"markdown":         markdown(matrixOnly),
		"glued cells": edit(func(_ int, l string) string {
			return strings.Replace(strings.Replace(l, "SYS\tSYS", "SYSSYS", 1), "NODE\tPIX", "NODEPIX", 1)
		}),
		"glued header":  edit(func(_ int, l string) string { return strings.Replace(l, "NIC7\tNIC8", "NIC7NIC8", 1) }),
		"glued GPU":     edit(func(_ int, l string) string { return strings.Replace(l, "GPU7\tNIC0", "GPU7NIC0", 1) }),
		"torn rows":     edit(func(_ int, l string) string { return tear(l, 90) }),
		"cards cut off": strings.Join(lines[:9], "\n"),
	}
	for name, text := range forms {
		m, err := Parse(strings.NewReader(text))
		if !assert.NoError(t, err, name) {
			continue
		}
		assert.Equal(t, plain.GPUNames, m.GPUNames, name)
		assert.Equal(t, plain.NICNames, m.NICNames, name)
		assert.Equal(t, plain.Cells[:8], m.Cells[:8], name)
		if name != "cards cut off" {
			assert.Equal(t, plain, m, name)
		}
	}
}

// underline puts escape sequences around the header's names.
func underline(i int, line, before, after string) string {
	if i != 0 {
		return line
	}
	return before + strings.TrimPrefix(line, "\t") + after
}

func markdown(table string) string {
	var b strings.Builder
	for i, l := range strings.Split(table, "\n") {
		l = strings.ReplaceAll(l, "\t\t", "\t")
		fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(l, "\t", " | "))
		if i == 0 {
			b.WriteString("|---|---|\n")
		}
	}
	return b.String()
}

var gap = regexp.MustCompile(`\t+`)

// tear breaks a line at the last TAB before a width, as a terminal does.
func tear(line string, width int) string {
	if len(line) < width || !strings.Contains(line, "SYS") && !strings.Contains(line, "NIC11") {
		return line
	}
	at := strings.LastIndex(line[:width], "\t")
	if at <= 0 {
		return line
	}
	return line[:at] + "\n" + gap.ReplaceAllString(line[at+1:], "\t")
}

// rocmSMI is what rocm-smi --showtopo prints for two GPUs.
const rocmSMI = `============================ ROCm System Management Interface ============================
================================ Weight between two GPUs =================================
       GPU0         GPU1
GPU0   0            15
GPU1   15           0

================================= Link Type between two GPUs =============================
       GPU0         GPU1
GPU0   0            XGMI
GPU1   XGMI         0
`

func TestParseRefuses(t *testing.T) {
	const head = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "no header line"},
		{"prose", "hello\nworld\n", "no header line"},
		{"missing row", head + "GPU0\t X \tPIX\tSYS\t0-3\t0\n", "the row of GPU1 is missing"},
		{"short row", head + "GPU0\t X \tPIX\nGPU1\tPIX\t X \tSYS\n", "line 2: the row of GPU0 has 2 of 3 cells"},
		{"long row", head + "GPU0\t X \tPIX\tSYS\tSYS\n", "line 2: the row of GPU0 has more than the header's 3 cells"},
		{"shifted row", head + "GPU0\tPIX\t X \tSYS\n", "line 2: the row of GPU0 has PIX instead of X in its own column"},
		{"one way", head + "GPU0\t X \tPIX\tSYS\nGPU1\tPXB\t X \tSYS\nNIC0\tSYS\tSYS\t X\n", "line 3: GPU1 to GPU0 is PXB, but PIX the other way"},
		{"itself", head + "GPU0\t X \t X \tSYS\nGPU1\t X \t X \tSYS\nNIC0\tSYS\tSYS\t X\n", "line 3: GPU1 to GPU0 is X, as if they were one device"},
		{"card", head + "GPU0\t X \tPIX\tNV4\nGPU1\tPIX\t X \tSYS\nNIC0\tNV4\tSYS\t X\n", "line 4: NIC0 to GPU0 is NV4, but NVLink joins GPUs only"},
		{"twice", head + "GPU0\t X \tPIX\tSYS\nGPU0\t X \tPIX\tSYS\n", "line 3: GPU0 has a second row; the first is line 2"},
		{"links", head + "GPU0\t X \tNV99\tSYS\n", "line 2: NV99 is no number of NVLinks"},
		{"header twice", "\tGPU0\tGPU0\nGPU0\t X \t X\n", "line 1: the header names GPU0 twice"},
		{"order", "\tGPU0\tNIC0\tGPU1\n", "line 1: GPU1 stands behind a network card"},
		{"unknown word", head + "GPU0\t X \tFAR\tSYS\n", `line 2: "FAR" in the row of GPU0 is no path; write X, NV1 to NV64`},
		{"unknown first word", head + "GPU0\tself\tPIX\tSYS\n", `line 2: "self" in the row of GPU0 is no path`},
		{"unknown word below", head + "GPU0\t X \tPIX\tSYS\nGPU1\tnear\t X \tSYS\n", `line 3: "near" in the row of GPU1 is no path`},
		{"rocm-smi", rocmSMI, "line 1: this is the output of AMD's rocm-smi"},
		{"rocm-smi's tables alone", "= Weight between two GPUs =\n       GPU0         GPU1\nGPU0   0            15\n", "line 1: this is the output of AMD's rocm-smi"},
		{"numbers for paths", "       GPU0         GPU1\nGPU0   0            15\nGPU1   15           0\n", `line 2: "0" in the row of GPU0 is no path`},
		{"noise", head + "GPU0\t X \tPIX\tSYS\nsegmentation fault\n", "line 3: \"segmentation fault\" is neither a row nor the rest of one"},
	} {
		_, err := Parse(strings.NewReader(c.text))
		assert.ErrorContains(t, err, c.want, c.name)
	}
	_, err := Parse(strings.NewReader(strings.Repeat("x", maxBytes+1)))
	assert.ErrorContains(t, err, "more than 4 MiB")
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := Parse(strings.NewReader(m.String()))
		require.NoError(t, err)
		require.Equal(t, m.Cells, again.Cells)
		if m.GPUs() > 16 {
			return
		}
		top, err := interconnect.Build(interconnect.Config{Topology: m, NVLinkBandwidth: 25e9, NICBandwidth: 25e9})
		require.NoError(t, err)
		lib, err := nccl.New(top, nccl.Settings{})
		require.NoError(t, err)
		c, err := lib.Communicator(nccl.AllReduce, nccl.First(top.Devices()))
		require.NoError(t, err)
		p := c.Plan(nccl.AllReduce, 1<<20)
		require.GreaterOrEqual(t, p.Uncontended(), p.Latency)
	})
}
