package interconnect

import (
	"cmp"

	"trainsim/sim"
	"trainsim/sim/gpu/generation"
)

// pcieRates is what DMA reaches through 16 lanes of each generation in one
// direction: about 80 % of the line rate of 15.75, 31.5, 63 and 126 GB/s
// (gen 3: 12..13 GB/s, gen 4: 24..26, gen 5: 50..55, gen 6: about 100).
var pcieRates = [...]float64{1: 3.1e9, 2: 6.3e9, 3: 12.5e9, 4: 25e9, 5: 52e9, 6: 100e9}

// defaultCPU is the family of processors that is assumed.
const defaultCPU = "amd"

// socketRates is the bandwidth in GB/s that NCCL assumes between two NUMA
// nodes of a processor family (NCCL 2.30.7, graph/topo.h and topo.cc).
var socketRates = map[string]float64{
	"intel": 10, "intel-broadwell": 6, "intel-skylake": 10, "intel-sapphire-rapids": 22,
	"intel-emerald-rapids": 40, "amd": 16, "arm": 6, "power9": 32,
}

// hostCopyShare is the part of its links' rate that a copy through host memory
// reaches. It depends on the machine more than anything else here: 0.15 (2 GPUs on
// one NUMA node of a box with NVLink pairs), 0.2 (4 L40S), 0.42 (4 GPUs of a DGX
// A100 without peer-to-peer copies), 0.47 (4 and 8 RTX PRO 6000), 0.54 and 0.67 (8
// and 4 RTX 5090 on dual Xeon, nccl#1639: 28 and 35 of 52 GB/s), 0.8 (A100 PCIe on
// dual EPYC, nccl-tests#178: 20 of 25). This is the median; presets whose machine
// was measured have their own.
const hostCopyShare = 0.47

// SocketSpeed is the bandwidth in GB/s that NCCL assumes between two NUMA nodes
// of the processor.
func (c *Config) SocketSpeed() float64 { return socketRates[cmp.Or(c.CPU, defaultCPU)] }

// withDefaults returns the configuration with every default written out.
func (c Config) withDefaults() Config {
	setInt(&c.Nodes, 1)
	c.CPU = cmp.Or(c.CPU, defaultCPU)
	if c.Topology != nil {
		c.GPUsPerNode = c.Topology.GPUs()
		if c.Topology.NICs() > 0 {
			c.NICs = c.Topology.NICs()
		}
	}
	setInt(&c.PCIeGen, 4)
	setInt(&c.PCIeWidth, 16)
	setInt(&c.NodesPerLeaf, 32)
	sockets := 2
	if c.GPUsPerNode < 2 {
		sockets = 1
	}
	setInt(&c.Sockets, sockets)
	c.Sockets = min(c.Sockets, max(1, c.GPUsPerNode))
	setFloat(&c.NVLinkEfficiency, 1)
	setFloat(&c.NICEfficiency, 1)
	setFloat(&c.Oversubscription, 1)
	setRate(&c.NVLinkBandwidth, float64(generation.Of(c.ComputeCapability).NVLink.LineRate))
	setRate(&c.PCIeBandwidth, pcieRates[c.PCIeGen]*float64(c.PCIeWidth)/16)
	setRate(&c.SocketBandwidth, 1e9*c.SocketSpeed())
	setRate(&c.HostMemoryBandwidth, 100e9)
	setFloat(&c.HostCopyEfficiency, hostCopyShare)
	if c.PCIeLatency == 0 {
		c.PCIeLatency = 300 * sim.Nanosecond
	}
	return c
}

func setInt(p *int, d int) {
	if *p == 0 {
		*p = d
	}
}

func setFloat(p *float64, d float64) {
	if *p == 0 {
		*p = d
	}
}

func setRate(p *sim.Bandwidth, d float64) {
	if *p == 0 {
		*p = sim.Bandwidth(d)
	}
}
