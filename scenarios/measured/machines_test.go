package measured

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
)

// What words state about cards and slots goes into the machine; words that say
// what the preset says anyway leave it as it is.
func TestMachinesByTheirWords(t *testing.T) {
	name, cfg, err := (&machineWords{gpu: "H100-SXM", text: "4x 200 Gb/s HDR", nodes: 2, perNode: 8}).machine()
	require.NoError(t, err)
	assert.Equal(t, "dgx-h100 (4x 200 Gb/s HDR)", name)
	assert.Equal(t, 4, cfg.NICs)
	assert.Equal(t, 25e9, float64(cfg.NICBandwidth))
	for _, text := range []string{"8x BlueField-3 400GbE RoCE per node", "NVLink4; 8x50 GB/s per node", "InfiniBand"} {
		name, cfg, err = (&machineWords{gpu: "H200-SXM", text: text, nodes: 2, perNode: 8}).machine()
		require.NoError(t, err)
		assert.Equal(t, "hgx-h200", name, text)
		assert.Nil(t, cfg)
	}
	name, cfg, err = (&machineWords{gpu: "L40S", text: "PCIe gen3", nodes: 1, perNode: 4}).machine()
	require.NoError(t, err)
	assert.Equal(t, "l40s-8x (PCIe gen3)", name)
	assert.Equal(t, 3, cfg.PCIeGen)
	_, cfg, err = (&machineWords{gpu: "RTX 3090", text: "NVLink bridge (NV4)", nodes: 1, perNode: 2}).machine()
	require.NoError(t, err)
	assert.Equal(t, interconnect.NVLinkPairs, cfg.Kind)
	// No cluster of this GPU with a network is built in, but its cards are stated.
	_, cfg, err = (&machineWords{gpu: "A100-SXM4-40GB", text: "4x HDR InfiniBand", nodes: 3, perNode: 8}).machine()
	require.NoError(t, err)
	assert.Equal(t, 4, cfg.NICs)
	assert.Equal(t, 25e9, float64(cfg.NICBandwidth))
	_, _, err = (&machineWords{gpu: "B300", text: "a network", nodes: 2, perNode: 8}).machine()
	assert.ErrorContains(t, err, "no cluster preset")
}

// Parts of NVL72 racks that only InfiniBand joins; the figures of nccl#1801.
func TestPartsOfRacks(t *testing.T) {
	const table = "gpu_type,gpus,nodes,interconnect,collective,algo_or_env,size_bytes,time_us\n" +
		"GB200,12,3,\"NVL4 partitions, InfiniBand\",all_reduce,Ring,17179869184,159983\n" +
		"GB200,24,6,\"NVL8 partitions, InfiniBand\",all_reduce,Ring,17179869184,83650\n"
	rows, err := ReadCollectives([]byte(table), "t.csv", "")
	require.NoError(t, err)
	var comms Communicators
	for i := range rows {
		took, err := comms.Predict(&rows[i])
		require.NoError(t, err)
		assert.InEpsilon(t, rows[i].Seconds, took.Seconds(), 0.05, "row %d", i)
	}
}

// A GPU that is not stated is made of what is.
func TestMachinesMadeOfWords(t *testing.T) {
	made := func(text string, nodes, perNode int) *interconnect.Config {
		_, cfg, err := (&machineWords{gpu: "not stated", text: text, nodes: nodes, perNode: perNode}).machine()
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
		_, _, err := (&machineWords{gpu: "not stated", text: text, nodes: 1, perNode: 8}).machine()
		assert.ErrorContains(t, err, "no cluster preset")
	}
}

// A peak without a size is compared at a large message; a statement is not.
func TestPeaksAndStatements(t *testing.T) {
	const table = "kind,gpu_type,gpus,nodes,interconnect,collective,dtype,size_bytes,time_us,busbw_gb_s\n" +
		"measured,V100-PCIe-32GB,4,1,\"PCIe gen3, no NVLink\",all_reduce,float32,,,9.4\n" +
		"measured (statement),H100-SXM,8,1,NVSwitch,all_reduce,,,,370\n" +
		"measured,H200-SXM,16,2,InfiniBand,all_reduce,fp8e4m3,10737418240,55722.7,\n" +
		"measured,GB200,72,1,NVL72,all_reduce,float32,8589934592,20299,\n" +
		"measured,V100-PCIe-32GB,2,1,P2P off,all_reduce,float32,1024,10,\n"
	rows, err := ReadCollectives([]byte(table), "t.csv", "")
	require.NoError(t, err)
	assert.True(t, rows[0].Peak)
	assert.EqualValues(t, peakBytes, rows[0].Bytes)
	assert.InEpsilon(t, 1.5*peakBytes/9.4e9, rows[0].Seconds, 1e-9)
	assert.Contains(t, rows[1].Skipped, "kind: is a statement without a size")
	assert.Zero(t, rows[1].Seconds)
	assert.Equal(t, []string{"Ring", "Tree"}, rows[2].Settings.Algo, "NVLink SHARP adds no FP8 on Hopper")
	assert.Equal(t, "dgx-gb200-nvl72", rows[3].Cluster)
	assert.True(t, rows[4].Settings.P2PDisable)
	var comms Communicators
	for _, i := range []int{0, 2, 3} {
		took, err := comms.Predict(&rows[i])
		require.NoError(t, err)
		assert.InEpsilon(t, rows[i].Seconds, took.Seconds(), 0.08, "row %d", i)
	}
}
