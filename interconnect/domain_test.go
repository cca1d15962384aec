package interconnect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/sim"
)

// rack is racks of 72 GPUs in trays of four, as GB200 NVL72 is.
func rack(trays int) interconnect.Config {
	return interconnect.Config{
		Nodes: trays, GPUsPerNode: 4, NVLinkDomain: 72, Kind: interconnect.NVSwitch, ComputeCapability: 100, CPU: "arm",
		NVLinks: 18, NVLinkBandwidth: 50e9, NVLinkLatency: 600 * sim.Nanosecond,
		PCIeGen: 5, GPUsPerSwitch: 1, NICs: 4, NICBandwidth: 50e9, NICEfficiency: 0.95, NICLatency: 2 * sim.Microsecond,
	}
}

func TestDomains(t *testing.T) {
	for _, c := range []struct {
		trays, domains, devices int
		second                  int // first device of the second domain, 0 without
	}{
		{1, 1, 4, 0}, {2, 1, 8, 0}, {18, 1, 72, 0},
		{36, 2, 144, 72}, {32, 2, 128, 64}, // evenly
		{19, 2, 76, 72}, {360, 20, 1440, 72},
	} {
		top := build(t, rack(c.trays))
		assert.Equal(t, c.devices, top.Devices(), "%d trays", c.trays)
		assert.Equal(t, c.domains, top.Domains(), "%d trays", c.trays)
		assert.Equal(t, c.trays, top.Nodes())
		if c.second > 0 {
			assert.Equal(t, 0, top.DomainOf(c.second-1))
			assert.Equal(t, 1, top.DomainOf(c.second))
			assert.Equal(t, interconnect.PathNET, top.PathType(0, c.second))
		}
		if c.devices > 4 {
			assert.Equal(t, interconnect.PathNVL, top.PathType(0, 4), "NVSwitches join trays")
		}
	}
	config := rack(32)
	assert.Equal(t, 64, config.DomainSize())
}

// Links are named by the tray that they are in.
func TestDomainLinkNames(t *testing.T) {
	top := build(t, rack(36))
	names := make(map[string]bool)
	for _, l := range top.All() {
		assert.False(t, names[l.Name], l.Name)
		names[l.Name] = true
	}
	for _, name := range []string{"node0/gpu0/nvlink/out", "node17/gpu3/nvlink/in", "node18/gpu0/pcie/up", "node35/nic3/rx", "node20/socket1/memory", "node20/socket0/to-socket1"} {
		assert.True(t, names[name], name)
	}
	path := top.Route(3, 4, interconnect.PathPXB).Uses
	require.Len(t, path, 2)
	assert.Equal(t, "node0/gpu3/nvlink/out", top.Link(path[0].Link).Name)
	assert.Equal(t, "node1/gpu0/nvlink/in", top.Link(path[1].Link).Name)
}
