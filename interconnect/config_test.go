package interconnect_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/input"
)

func TestConfigProblems(t *testing.T) {
	good := nvswitch(90, 18, "intel")
	require.NoError(t, good.Validate())
	for _, c := range []struct {
		key  string
		edit func(*interconnect.Config)
		want string
	}{
		{"nodes", func(c *interconnect.Config) { c.Nodes = -1 }, "negative"},
		{"nodes", func(c *interconnect.Config) { c.Nodes, c.NICs, c.NICBandwidth = 1<<20, 1, 1e9 }, "more than 1048576 GPUs"},
		{"gpus_per_node", func(c *interconnect.Config) { c.GPUsPerNode = 0 }, "write 1 or more"},
		{"gpus_per_node", func(c *interconnect.Config) { c.GPUsPerNode = 2000 }, "more than 1024"},
		{"gpus_per_node", func(c *interconnect.Config) { c.Kind, c.GPUsPerNode = interconnect.NVLinkPairs, 7 }, "do not make pairs"},
		{"gpus_per_node", func(c *interconnect.Config) { c.Kind, c.GPUsPerNode = interconnect.CubeMesh, 4 }, "a cube mesh has 8 GPUs"},
		{"island_size", func(c *interconnect.Config) { c.Kind, c.IslandSize = interconnect.Islands, 3 }, "do not make whole islands"},
		{"kind", func(c *interconnect.Config) { c.Kind = 99 }, "write one of"},
		{"nvlinks", func(c *interconnect.Config) { c.NVLinks = 0 }, "needs nvlinks and nvlink_bandwidth"},
		{"pcie_gen", func(c *interconnect.Config) { c.PCIeGen = 9 }, "no PCIe generation"},
		{"pcie_width", func(c *interconnect.Config) { c.PCIeWidth = -8 }, "out of range"},
		{"cpu", func(c *interconnect.Config) { c.CPU = "6502" }, "unknown processor"},
		{"nvlink_bandwidth", func(c *interconnect.Config) { c.NVLinkBandwidth = sim.Bandwidth(math.NaN()) }, "write a rate"},
		{"nic_bandwidth", func(c *interconnect.Config) { c.NICBandwidth = 1 }, "write a rate"},
		{"nvlink_efficiency", func(c *interconnect.Config) { c.NVLinkEfficiency = 1.5 }, "no part of the line rate"},
		{"nic_efficiency", func(c *interconnect.Config) { c.NICEfficiency = math.NaN() }, "no part of the line rate"},
		{"oversubscription", func(c *interconnect.Config) { c.Oversubscription = 0.5 }, "write 1 or more"},
		{"nic_latency", func(c *interconnect.Config) { c.NICLatency = -1 }, "out of range"},
		{"nics", func(c *interconnect.Config) { c.Nodes, c.NICBandwidth = 2, 25e9 }, "2 nodes need network cards"},
		{"nic_bandwidth", func(c *interconnect.Config) { c.Nodes, c.NICs = 2, 8 }, "2 nodes need it"},
		{"visible_devices", func(c *interconnect.Config) { c.VisibleDevices = []int{0, 8} }, "there is no GPU 8"},
		{"visible_devices", func(c *interconnect.Config) { c.VisibleDevices = []int{1, 1} }, "listed twice"},
		{"nic_affinity", func(c *interconnect.Config) { c.NICAffinity = 9 }, "write one of"},
		{"fabric", func(c *interconnect.Config) { c.Fabric = 9 }, "write one of"},
	} {
		cfg := good
		c.edit(&cfg)
		problems := input.Each(cfg.Validate())
		found := false
		for _, p := range problems {
			found = found || p.Key == c.key && strings.Contains(p.Text, c.want)
		}
		assert.True(t, found, "%s: %v", c.key, problems)
		_, err := interconnect.Build(cfg)
		assert.ErrorContains(t, err, c.key)
	}
	all := interconnect.Config{Nodes: -1, PCIeGen: 9, CPU: "6502"}
	assert.Len(t, input.Each(all.Validate()), 4, "all at once")
}

func TestConfigWithTopology(t *testing.T) {
	c := interconnect.Config{Topology: table(t, "h100nvl-8gpu-4pairs-2nic"), NVLinkBandwidth: 25e9, VisibleDevices: []int{2, 3}}
	top := build(t, c)
	assert.Equal(t, 2, top.Devices())
	assert.Equal(t, interconnect.PathNVL, top.PathType(0, 1))
	c.GPUsPerNode = 9
	assert.ErrorContains(t, c.Validate(), "the topology has 8 GPUs")
}

// Nodes of a topology need its cards and their rate: links without a rate
// would carry transfers that never end.
func TestNodesOfATopologyNeedCardsWithARate(t *testing.T) {
	c := interconnect.Config{Topology: table(t, "a100-4gpu-nv4-4nic"), Nodes: 2}
	assert.ErrorContains(t, c.Validate(), "nic_bandwidth: 2 nodes need it")
	c.NICBandwidth = 25e9
	require.NoError(t, c.Validate())
	c.Nodes = 1 << 19
	assert.ErrorContains(t, c.Validate(), "more than 1048576 GPUs")
	c = interconnect.Config{Topology: table(t, "a100-4gpu-nv4-nonic"), Nodes: 2, NICs: 4, NICBandwidth: 25e9}
	assert.ErrorContains(t, c.Validate(), "nics: 2 nodes need network cards, and the topology has none")
}

// A topology with NVLinks is not that of a GPU without.
func TestNVLinksOfAGPUWithout(t *testing.T) {
	c := interconnect.Config{Topology: table(t, "dgx-h100-8gpu-12nic-tabs"), ComputeCapability: 89}
	assert.ErrorContains(t, c.Validate(), "topology: shows NV18 between GPU0 and GPU1, but GPUs of compute capability 8.9 have no NVLink; name the GPU of that machine")
	c.ComputeCapability = 90
	assert.NoError(t, c.Validate())
	c = interconnect.Config{Topology: table(t, "rtx4090-8gpu-allsys-tabs"), ComputeCapability: 89}
	assert.NoError(t, c.Validate(), "no NVLink, none shown")
}

// presetOf decodes a cluster preset with the one that it stands on.
func presetOf(t *testing.T, name string) interconnect.Config {
	text, err := os.ReadFile(filepath.Join("..", "scenarios", "clusters", name+".toml"))
	require.NoError(t, err)
	var base struct {
		Preset, Description, GPU string
	}
	require.NoError(t, toml.Unmarshal(text, &base))
	assert.NotEmpty(t, base.Description, name)
	var c interconnect.Config
	if base.Preset != "" {
		c = presetOf(t, base.Preset)
	} else {
		assert.FileExists(t, filepath.Join("..", "scenarios", "gpus", base.GPU+".toml"), name)
	}
	require.NoError(t, toml.Unmarshal(text, &c), name)
	return c
}

// TestClusterPresets builds every preset and checks that its collectives stay
// below what its hardware has.
func TestClusterPresets(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "scenarios", "clusters", "*.toml"))
	require.NoError(t, err)
	require.Greater(t, len(files), 30)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		c := presetOf(t, name)
		assert.NotZero(t, c.ComputeCapability, name)
		for _, nodes := range []int{1, 2} {
			if c.Nodes = nodes; nodes > 1 && c.NICs == 0 {
				continue
			}
			top := build(t, c)
			for n := 2; n <= top.Devices(); n *= 2 {
				_, cm := group(t, top, n, nccl.Settings{})
				p := cm.Plan(nccl.AllGather, 1<<32)
				busbw := float64(p.Message) / p.Uncontended().Seconds() * p.BusFactor
				limit := max(float64(c.NVLinks)*float64(c.NVLinkBandwidth), float64(top.Config().PCIeBandwidth))
				if n > c.DomainSize() {
					limit = float64(c.NICs) * float64(c.NICBandwidth)
				}
				assert.Less(t, busbw, limit, "%s: %d GPUs", name, n)
				assert.Greater(t, busbw, limit/40, "%s: %d GPUs", name, n)
			}
		}
	}
}
