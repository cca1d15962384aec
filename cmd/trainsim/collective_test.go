package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trainsim/interconnect/bench"
	"trainsim/interconnect/topo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// topoFile is the table of a machine that package topo is tested with.
func topoFile(name string) string {
	return filepath.Join("..", "..", "interconnect", "topo", "testdata", name+".txt")
}

func TestCollectiveTable(t *testing.T) {
	r := trainsim("collective", "all-reduce", "--cluster", "dgx-h100", "--sizes", "1M..4M")
	require.Equal(t, exitOK, r.code, r.stderr)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	require.Len(t, lines, 9)
	assert.Equal(t, "# all-reduce on dgx-h100: 8 ranks, 1 nodes", lines[0])
	assert.Contains(t, lines[5], "1048576")
	assert.Contains(t, lines[7], "NVLS")
	assert.Contains(t, lines[8], "average bus bandwidth")
}

// document runs a command with --json and reads what it prints.
func document(t *testing.T, into any, args ...string) {
	r := trainsim(append(args, "--json")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), into))
}

func TestCollectiveJSON(t *testing.T) {
	var table bench.Table
	document(t, &table, "collective", "allgather", "--cluster", "selene-a100-80gb", "--ranks", "16", "--sizes", "64K,1G")
	assert.Equal(t, "all-gather", table.Collective)
	assert.Equal(t, 2, table.Nodes)
	require.Len(t, table.Rows, 2)
	for _, row := range table.Rows {
		assert.InEpsilon(t, float64(row.Bytes)/row.Seconds, row.AlgBW, 1e-9)
		assert.InEpsilon(t, row.AlgBW*15/16, row.BusBW, 1e-9)
		assert.Equal(t, "Ring", row.Algorithm)
	}
	assert.Equal(t, "latency", table.Rows[0].LimitedBy)
	assert.Contains(t, table.Rows[1].Bottleneck, "nic")
	assert.Less(t, table.Rows[1].BusBW, 8*25e9)
}

func TestCollectivesShare(t *testing.T) {
	slower := func(with ...string) float64 {
		args := []string{"collective", "all-gather", "--cluster", "dgx-a100", "--ranks", "16", "--sizes", "1G"}
		for _, w := range with {
			args = append(args, "--with", w)
		}
		var table bench.Table
		document(t, &table, args...)
		row := table.Rows[0]
		require.NotNil(t, row.Alone)
		return row.Seconds / *row.Alone
	}
	assert.InDelta(t, 2, slower("all-gather:1G"), 0.05, "two equal ones share everything")
	card, pair := slower("send-recv:1G@0,8"), slower("send-recv:1G@0-1")
	assert.Greater(t, card, 1.8, "both use one card")
	assert.Less(t, pair, card, "NVLink has more room than a card")
	assert.InDelta(t, 1, slower("send-recv:1M@0-1"), 0.15, "a small message is mostly latency")
}

func TestCollectiveOnATopology(t *testing.T) {
	var flat, apart bench.Table
	args := []string{"collective", "all-reduce", "--topology", topoFile("CONSTRUCTED-h200nvl-8gpu-2x4-islands"), "--gpu", "h200-sxm-141gb", "--sizes", "256M"}
	document(t, &flat, args...)
	document(t, &apart, append(args, "--algo", "Hierarchical")...)
	assert.Equal(t, "Hierarchical", apart.Rows[0].Algorithm)
	assert.Less(t, apart.Rows[0].Seconds, flat.Rows[0].Seconds)
}

// Slots and peer-to-peer copies of a topology are its GPU's. Below one switch
// copies through host memory share its uplink, so that cards without
// peer-to-peer copies reach half of 0.47 of the slot.
func TestCollectiveOnATopologyWithTheGPUsSlots(t *testing.T) {
	for gpu, want := range map[string]float64{"rtx4090-24gb": 5.87e9, "rtx3090-24gb": 5.87e9, "h100-pcie-80gb": 40.5e9, "a100-pcie-80gb": 19.5e9} {
		var table bench.Table
		document(t, &table, "collective", "all-reduce", "--topology", topoFile("pcie-8gpu-pix-node-sys"), "--gpu", gpu, "--ranks", "2", "--sizes", "1G")
		assert.InEpsilon(t, want, table.Rows[0].BusBW, 0.01, gpu)
	}
}

// The cards of a topology get their rate from the command line, and so do
// those of a preset.
func TestCollectiveOverCardsOfAGivenRate(t *testing.T) {
	for _, machine := range [][]string{
		{"--topology", topoFile("a100-4gpu-nv4-4nic"), "--gpu", "a100-sxm4-80gb", "--ranks", "8"},
		{"--cluster", "dgx-h100", "--ranks", "16"},
	} {
		var slow, fast bench.Table
		args := append([]string{"collective", "all-gather", "--sizes", "1G"}, machine...)
		document(t, &slow, append(args, "--nic-bandwidth", "100Gb/s")...)
		document(t, &fast, append(args, "--nic-bandwidth", "200Gb/s")...)
		assert.Greater(t, slow.Rows[0].Seconds, 0.0)
		assert.InDelta(t, 2, slow.Rows[0].Seconds/fast.Rows[0].Seconds, 0.02)
		assert.Contains(t, slow.Rows[0].Bottleneck, "nic")
	}
}

func TestCollectiveFigure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "busbw.svg")
	r := trainsim("collective", "reduce-scatter", "--cluster", "l40s-8x", "--plot", file)
	require.Equal(t, exitOK, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "l40s-8x: reduce-scatter over 8 GPUs")
}

func TestCollectiveRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"scan --cluster dgx-h100": `unknown collective "scan"`,
		"all-reduce":              "write either --cluster NAME or --topology FILE",
		"all-reduce --cluster dgx-h100 --gpu a10-24gb":                       "--gpu belongs to --topology",
		"all-reduce --cluster dgx-h100 --sizes 4M..1M":                       "write the smaller first",
		"all-reduce --cluster dgx-h100 --sizes big":                          `"big" is no size`,
		"all-reduce --cluster dgx-h100 --sizes 9999999T":                     "is no size",
		"all-reduce --cluster dgx-h100 --ranks -1":                           "numbers from 1",
		"all-reduce --cluster dgx-h100 --ranks 9 --nodes 1":                  "raise --nodes",
		"all-reduce --cluster dgx-h100 --algo Rong":                          `unknown algorithm "Rong"`,
		"all-reduce --cluster dgx-h100 --algo PAT":                           "no algorithm and protocol is left",
		"all-gather --cluster dgx-h100 --algo PAT":                           "is left for all-gather over 8",
		"all-gather --cluster dgx-h100 --algo Tree":                          "is left for all-gather over 8",
		"all-reduce --cluster dgx-h100 --with all-gather":                    "write OP:SIZE",
		"all-reduce --cluster dgx-h100 --with scan:1M":                       `unknown collective "scan"`,
		"all-reduce --cluster dgx-h100 --with reduce:1M@0-99":                "device 8 does not exist",
		"all-reduce --cluster dgx-h100 --with reduce:1M@x":                   `"x" are no ranks`,
		"all-reduce --nodes 2 --topology " + topoFile("a100-4gpu-nv4-nonic"): "shows no network cards",
		"all-reduce --ranks 8 --topology " + topoFile("a100-4gpu-nv4-4nic"):  "--nic-bandwidth: 2 nodes need it",
		"all-reduce --cluster dgx-h100 --nic-bandwidth 400":                  "has no unit",
		"all-reduce --cluster dgx-h100 --nic-bandwidth 0Gb/s":                "above 0",
		"all-reduce --cluster dgx-h100 --plot x.gif":                         "--plot x.gif: write a name that ends in .png, .svg, .pdf",
	} {
		r := trainsim(append([]string{"collective"}, strings.Fields(line)...)...)
		assert.Equal(t, exitUsage, r.code, line)
		assert.Contains(t, r.stderr, want, line)
		assert.Empty(t, r.stdout, line)
	}
	r := trainsim("collective", "all-reduce", "--cluster", "dgx-h1000")
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, "dgx-h100")
	r = trainsim("collective", "all-reduce", "--cluster", "v100-sxm2-8x", "--nodes", "2")
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, "nics: 2 nodes need network cards")
}

// A misspelt GPU is named without a place, which it has none.
func TestUnknownGPUOfACommandLine(t *testing.T) {
	for _, args := range [][]string{
		{"topo", topoFile("a100-4gpu-nv4-nonic"), "--gpu", "a100-sxm4-8gb"},
		{"collective", "all-reduce", "--topology", topoFile("a100-4gpu-nv4-nonic"), "--gpu", "a100-sxm4-8gb"},
		{"calibrate", "../../scenarios/measured/testdata/gemm.csv", "--gpu", "a100-sxm4-8gb"},
	} {
		r := trainsim(args...)
		assert.Equal(t, exitInput, r.code, args)
		assert.True(t, strings.HasPrefix(r.stderr, `trainsim: gpu.preset: there is no gpu preset "a100-sxm4-8gb"; did you mean`), r.stderr)
	}
}

func TestTopoText(t *testing.T) {
	r := trainsim("topo", topoFile("h100nvl-8gpu-4pairs-2nic"), "--gpu", "h100-nvl-94gb")
	require.Equal(t, exitOK, r.code, r.stderr)
	for _, want := range []string{
		"8 GPUs, 2 network cards", "NVLink islands:    {0 1} {2 3} {4 5} {6 7}", "best ring:         0 - 1 - 2 - 3 - 4 - 5 - 6 - 7 - 0",
		"slowest hop:       GPU3 to GPU4, SYS, 16.0 GB/s", "joined by NVLink; larger groups cross slower links", "GPU1 NIC0 (PHB)",
	} {
		assert.Contains(t, r.stdout, want)
	}
	one := trainsim("topo", topoFile("h100pcie-vm-1gpu-1nic"))
	assert.Contains(t, one.stdout, "one GPU, nothing to place")
}

func TestTopoJSON(t *testing.T) {
	var d topo.Document
	document(t, &d, "topo", topoFile("CONSTRUCTED-h200nvl-8gpu-2x4-islands"))
	assert.Equal(t, 8, d.GPUs)
	assert.Equal(t, 4, d.NICs)
	assert.Len(t, d.Links, 12*11/2)
	assert.Equal(t, [3]string{"GPU0", "GPU1", "NV6"}, d.Links[0])
	assert.Equal(t, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}, d.Islands)
	assert.Len(t, d.Ring, 8)
	require.NotNil(t, d.Bottleneck)
	assert.Equal(t, topo.SlowestHop{From: 3, To: 4, Type: "SYS", BytesPerSec: 16e9}, *d.Bottleneck)
	var one topo.Document
	document(t, &one, "topo", topoFile("h100pcie-vm-1gpu-1nic"))
	assert.Nil(t, one.Bottleneck)
}

func TestTopoFromStdin(t *testing.T) {
	text, err := os.ReadFile(topoFile("dgx-h100-8gpu-12nic-tabs"))
	require.NoError(t, err)
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{"topo", "-"}, bytes.NewReader(text), &out, &errs)
	assert.Equal(t, exitOK, code, errs.String())
	assert.Contains(t, out.String(), "{0 1 2 3 4 5 6 7}, joined by NVLink")
}

func TestTopoFigure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "topo.svg")
	r := trainsim("topo", topoFile("l40s-4gpu-2nic"), "--plot", file)
	require.Equal(t, exitOK, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "NODE: host bridges of a socket")
}

// A GPU without NVLink is not the one of a topology that shows NVLinks.
func TestTopoOfAnotherGPU(t *testing.T) {
	for _, args := range [][]string{
		{"topo", topoFile("dgx-h100-8gpu-12nic-tabs"), "--gpu", "rtx4090-24gb"},
		{"collective", "all-reduce", "--topology", topoFile("dgx-h100-8gpu-12nic-tabs"), "--gpu", "rtx5090-32gb"},
		{"run", "7b-dp8-8x24gb", "--set", `cluster.topology="` + topoFile("dgx-h100-8gpu-12nic-tabs") + `"`, "--set", `cluster.gpu="l40s-48gb"`},
	} {
		r := trainsim(args...)
		assert.Equal(t, exitInput, r.code, args)
		assert.Contains(t, r.stderr, "topology: shows NV18 between GPU0 and GPU1, but GPUs of compute capability", args)
	}
}

func TestTopoRefuses(t *testing.T) {
	torn := filepath.Join(t.TempDir(), "torn.txt")
	require.NoError(t, os.WriteFile(torn, []byte("\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\n"), 0o600))
	r := trainsim("topo", torn)
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, torn+":3: the row of GPU1 has 1 of 2 cells")
	for _, args := range [][]string{{"topo", "nowhere.txt"}, {"topo", t.TempDir()}, {"topo", "-"}, {"topo", torn, "--gpu", "h1000"}} {
		r := trainsim(args...)
		assert.Equal(t, exitInput, r.code, args)
		assert.NotEmpty(t, r.stderr)
	}
}
