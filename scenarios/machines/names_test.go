package machines

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
)

func TestGPUsByTheNamesOfTables(t *testing.T) {
	for name, want := range map[string]string{
		"A100-SXM4-80GB": "a100-sxm4-80gb", "H100 80GB HBM3": "h100-sxm5-80gb", "B200": "b200-sxm-180gb",
		"NVIDIA A100 PCIe": "a100-pcie-80gb", "h200": "h200-sxm-141gb", "L40S": "l40s-48gb", "GB200": "gb200-186gb",
		"A100 (SXM4-80GB per paper)": "a100-sxm4-80gb", "H100 (PCIe card)": "h100-pcie-80gb", "H100 (NVL)": "h100-nvl-94gb",
	} {
		d, err := FindGPU(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, d.Name)
	}
	for name, want := range map[string]string{
		"A100": `"A100" may be a100-pcie-80gb, a100-sxm4-40gb or a100-sxm4-80gb;`, "H100": "h100-sxm5-80gb",
		"A100 (type not stated)": "may be a100-pcie-80gb, ", "A100 (SXM4)": "may be a100-sxm4-40gb or a100-sxm4-80gb;",
		"MI210": `no gpu preset for "MI210"`, "": "no gpu preset",
	} {
		_, err := FindGPU(name)
		assert.ErrorContains(t, err, want)
	}
}

func TestClustersByTheWordsOfTables(t *testing.T) {
	tests := []struct {
		gpu, machine string
		nodes        int
		want         string
	}{
		{"H100-SXM-80GB", "NVLink4 + NVSwitch", 1, "h100-sxm5-80gb-8x"},
		{"H100-SXM", "8x400 Gb/s InfiniBand per node", 2, "dgx-h100"},
		{"H100-SXM", "GCP A3 Mega, GPUDirect-TCPXO", 2, "gcp-a3-mega"},
		{"H200-SXM (AWS p5en)", "NVLink4; EFA", 4, "aws-p5en"},
		{"V100-SXM-32GB", "Omni-Path between nodes", 4, "jeanzay-v100-32gb"},
		{"V100-SXM-32GB", "InfiniBand", 4, "dgx1-v100"},
		{"GB200", "NVLink5", 1, "gb200-186gb-4x"},
		{"GB200", "2 NVL72 racks + InfiniBand", 36, "dgx-gb200-nvl72"},
		{"B200", "8 cards of EFA", 4, "aws-p6-b200"},
		{"V100-PCIe-32GB", "PCIe gen3, no NVLink", 1, "v100-pcie-32gb-8x"},
		{"L40S", "PCIe gen4, no NVLink", 1, "l40s-8x"},
		{"H100", "NVLink4 + NVSwitch", 1, "h100-sxm5-80gb-8x"},
		{"H100", "NVLink4", 1, "h100-sxm5-80gb-8x"},
		{"H100", "", 1, "h100-sxm5-80gb-8x"},
		{"H100", "NVLink bridges", 1, "h100-nvl-8x"},
		{"H100", "PCIe gen5, no NVLink", 1, "h100-pcie-8x"},
		{"H100", "PCIe gen5", 1, "h100-pcie-8x"},
		{"H100 (PCIe)", "", 1, "h100-pcie-8x"},
		{"H100 (SXM5)", "8x400 Gb/s InfiniBand", 2, "dgx-h100"},
		{"A100", "NVLink3 + NVSwitch", 1, "a100-sxm4-40gb-8x"},
		{"A100", "PCIe, no NVLink", 1, "a100-pcie-8x"},
	}
	for _, test := range tests {
		got, err := findCluster(test.gpu, test.machine, test.nodes, 0)
		require.NoError(t, err, test.gpu)
		assert.Equal(t, test.want, got)
	}
	_, err := findCluster("H100 PCIe", "NVSwitch", 1, 0)
	assert.ErrorContains(t, err, "no cluster preset")
	_, err = findCluster("L40S", "", 2, 0)
	assert.ErrorContains(t, err, `no cluster preset for 2 nodes of "L40S"`)
}

// TestFP8OfTheGeneration: a preset has a rate in FP8 where its generation's tensor
// cores multiply in it, so that a job in FP8 is refused on the others.
func TestFP8OfTheGeneration(t *testing.T) {
	for _, d := range builtinGPUs() {
		assert.Equal(t, d.Generation().FP8, d.Rates.FP8 > 0, d.Name)
	}
}

// TestBuiltInAliasesDiffer: a preset that stands on another one has names of its
// own, or a table of measurements would not know which is meant.
func TestBuiltInAliasesDiffer(t *testing.T) {
	of := map[string]string{}
	for _, d := range builtinGPUs() {
		for _, alias := range d.Aliases {
			assert.Empty(t, of[alias], "%s is %s too", alias, d.Name)
			of[alias] = d.Name
		}
	}
	all, err := scenarios.List("gpus")
	require.NoError(t, err)
	assert.Len(t, builtinGPUs(), len(all))
}
