package nccl

import (
	"trainsim/interconnect"
	"trainsim/sim/gpu/generation"
)

// pciePerformance is how NCCL's kernels perform on rings that leave NVLink. Its
// bus is what the links of the machine give a ring, not NCCL's figure for it.
// Fitted to the tables of an RTX PRO 6000 machine (ai-dynamo/aiconfigurator,
// systems/data).
var pciePerformance = generation.Fits{
	LL:     generation.LineFit{Base: 4.1, Step: 1.48, Share: 0.76},
	LL128:  generation.LineFit{Base: 10, Step: 2.5, Share: 0.7},
	Simple: generation.SliceFit{Base: 15.6, Step: 0.67, Share: 0.78},
	Direct: generation.DirectFit{Base: 6.8, Step: 1.25, Share: 0.88},
}

// peerRate is what the two channels that NCCL gives a peer over PCIe move, in GB/s:
// two RTX PRO 6000 exchange 25.7 of the 52 that their slots have, two L40S 22 of 25.
const peerRate = 25.7

// hostPerformance is for rings with a hop through host memory: as over PCIe, at
// the machine's share of the links.
func hostPerformance(cfg *interconnect.Config) *generation.Fits {
	p, share := pciePerformance, cfg.HostCopyEfficiency
	p.LL.Share, p.LL128.Share, p.Simple.Share, p.Direct.Share = share, share, share, share
	return &p
}

// treeExtra is what a tree over several nodes takes beside NCCL's estimate.
const treeExtra = 16

// sharpFit returns how NVLink SHARP performs: inside a node or with trees.
func sharpFit(p *generation.Fits, a Algorithm) generation.SwitchFit {
	if a == NVLSTree {
		return p.NVLSTree
	}
	return p.NVLS
}

const mib = 1 << 20

// saturating grows from 0 to 1 and is a half at the size given in MiB.
func saturating(bytes int64, atMiB float64) float64 {
	if atMiB == 0 {
		return 0
	}
	return float64(bytes) / (float64(bytes) + float64(atMiB*mib))
}

// cost is the time of a call: latency in microseconds, and bandwidth of the
// full vector in GB/s.
type cost struct {
	lat, bw float64
}

// filling spreads the time of filling the pipeline over the bytes: the links
// carry traffic all that while, at a lower rate.
func (c cost) filling(bytes int64, fill float64) cost {
	if fill > 0 {
		c.bw = 1 / (1/c.bw + float64(1000*fill)/float64(bytes))
	}
	return c
}

// lineCost is that of a line protocol. bus is in GB/s; vol is the ring's volume.
func lineCost(f *generation.LineFit, bytes int64, k, vol, bus float64) cost {
	return cost{
		lat: f.Base + float64(f.Step*k) + float64(f.Ramp*saturating(bytes, 8.0/1024)),
		bw:  f.Share * bus / vol,
	}
}

// sliceCost is that of a ring of n ranks under Simple.
func sliceCost(f *generation.SliceFit, op Op, bytes int64, n int, k, vol, bus float64) cost {
	bus *= f.Share
	per := vol / bus
	if f.Copy > 0 {
		own := f.Copy
		if op == AllReduce {
			own *= 2
		}
		per += 1 / (float64(n) * own)
	}
	fill := f.Fill * mib / (1000 * bus) * saturating(bytes, f.FillAt)
	return cost{lat: f.Base + float64(f.Step*k), bw: 1 / per}.filling(bytes, fill)
}

// switchCost is that of NVLink SHARP; plugin is the part of NCCL's latency that
// the network's plugin reports, which the fits leave as it is.
func switchCost(f *generation.SwitchFit, bytes int64, e estimate, plugin float64) cost {
	c := cost{lat: float64(f.Base*(e.lat-plugin)) + plugin, bw: f.Share * e.bw}
	return c.filling(bytes, f.Fill*saturating(bytes, f.FillAt))
}

// directCost is that of point-to-point transfers among n ranks.
func directCost(f *generation.DirectFit, bytes int64, n int, vol, bus float64) cost {
	bus *= f.Share
	per := vol / bus
	if f.Copy > 0 {
		per += 1 / (float64(n) * f.Copy)
	}
	lat := f.Base + float64(f.Step*float64(n-1)) + float64(f.Ramp*saturating(bytes, f.RampAt))
	fill := f.Fill * mib / (1000 * bus) * saturating(bytes, f.FillAt)
	return cost{lat: lat, bw: 1 / per}.filling(bytes, fill)
}
