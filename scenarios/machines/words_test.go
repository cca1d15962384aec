package machines

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
)

// What words state about cards and slots goes into the machine; words that say
// what the preset says anyway leave it as it is.
func TestMachinesByTheirWords(t *testing.T) {
	name, cfg, err := (&Words{GPU: "H100-SXM", Text: "4x 200 Gb/s HDR", Nodes: 2, PerNode: 8}).Machine()
	require.NoError(t, err)
	assert.Equal(t, "dgx-h100 (4x 200 Gb/s HDR)", name)
	assert.Equal(t, 4, cfg.NICs)
	assert.Equal(t, 25e9, float64(cfg.NICBandwidth))
	for _, text := range []string{"8x BlueField-3 400GbE RoCE per node", "NVLink4; 8x50 GB/s per node", "InfiniBand"} {
		name, cfg, err = (&Words{GPU: "H200-SXM", Text: text, Nodes: 2, PerNode: 8}).Machine()
		require.NoError(t, err)
		assert.Equal(t, "hgx-h200", name, text)
		assert.Nil(t, cfg)
	}
	name, cfg, err = (&Words{GPU: "L40S", Text: "PCIe gen3", Nodes: 1, PerNode: 4}).Machine()
	require.NoError(t, err)
	assert.Equal(t, "l40s-8x (PCIe gen3)", name)
	assert.Equal(t, 3, cfg.PCIeGen)
	_, cfg, err = (&Words{GPU: "RTX 3090", Text: "NVLink bridge (NV4)", Nodes: 1, PerNode: 2}).Machine()
	require.NoError(t, err)
	assert.Equal(t, interconnect.NVLinkPairs, cfg.Kind)
	// No cluster of this GPU with a network is built in, but its cards are stated.
	_, cfg, err = (&Words{GPU: "A100-SXM4-40GB", Text: "4x HDR InfiniBand", Nodes: 3, PerNode: 8}).Machine()
	require.NoError(t, err)
	assert.Equal(t, 4, cfg.NICs)
	assert.Equal(t, 25e9, float64(cfg.NICBandwidth))
	_, _, err = (&Words{GPU: "B300", Text: "a network", Nodes: 2, PerNode: 8}).Machine()
	assert.ErrorContains(t, err, "no cluster preset")
}

// A GPU that is not stated is made of what is.
func TestMachinesMadeOfWords(t *testing.T) {
	made := func(text string, nodes, perNode int) *interconnect.Config {
		_, cfg, err := (&Words{GPU: "not stated", Text: text, Nodes: nodes, PerNode: perNode}).Machine()
		require.NoError(t, err, text)
		require.NoError(t, cfg.Validate(), text)
		return cfg
	}
	c := made("NVLink bridge pair (NV4)", 1, 2)
	assert.Equal(t, interconnect.NVLinkPairs, c.Kind)
	assert.Equal(t, 4, c.NVLinks)
	assert.Equal(t, 86, c.ComputeCapability)
	assert.Equal(t, 2, made("across sockets, P2P off", 1, 4).Sockets)
	assert.Equal(t, 1, made("same NUMA node PCIe, P2P off", 1, 2).Sockets)
	c = made("not stated (saturates near 100 GB/s per node)", 4, 8)
	assert.Equal(t, 80, c.ComputeCapability)
	assert.Equal(t, 4, c.NICs)
	assert.Equal(t, 90, made("InfiniBand, type not stated", 8, 8).ComputeCapability)
	assert.Equal(t, 90, made("3200 Gb/s per node", 8, 8).ComputeCapability)
	assert.Equal(t, 90, made("NVSwitch", 1, 8).ComputeCapability)
	assert.Equal(t, 80, made("NVLink3, 8x 200 Gb/s RoCE", 2, 8).ComputeCapability)
	assert.Equal(t, 4, made("PCIe gen5 under one switch", 1, 4).GPUsPerSwitch)
	for _, text := range []string{"", "a cluster"} {
		_, _, err := (&Words{GPU: "not stated", Text: text, Nodes: 1, PerNode: 8}).Machine()
		assert.ErrorContains(t, err, "no cluster preset")
	}
}

func ExampleWords_Machine() {
	words := Words{GPU: "H100-SXM", Text: "4x 200 Gb/s HDR", Nodes: 2, PerNode: 8}
	name, cluster, err := words.Machine()
	if err != nil {
		panic(err)
	}
	fmt.Println(name, cluster.NICs)
	// Output: dgx-h100 (4x 200 Gb/s HDR) 4
}
