package interconnect

// How NCCL's kernels perform on real hardware, beside its own estimates: NCCL
// picks algorithm and protocol by the estimate, and the call then takes the
// time that these figures give. Times are in microseconds, sizes in MiB, k is
// the number of ring steps (2(n-1) for an all-reduce, n-1 for a half), bus is
// the bandwidth of a ring edge as NCCL counts NVLinks (cc 80: 20 GB/s each).
//
// The figures are fitted to nccl-tests tables of NVSwitch machines with 2, 4
// and 8 GPUs (ai-dynamo/aiconfigurator, systems/data: A100 with NCCL 2.27.3,
// H100, H200, B200, B300, GB200 and GB300 with 2.29.2) and, from 64 MiB up, to
// the single-node tables of stas00/ml-engineering and NVIDIA/dgxc-benchmarking;
// PCIe to aiconfigurator's RTX PRO 6000 machine; NVLSTree, and what a tree takes
// beside NCCL's estimate, to the two-node tables of Dell (H200) and Google A4
// (B200). Fitted on half of the rows they predict
// the other half within a median of 12 % for every device and operation.

// lineFit is LL or LL128: base + step*k + ramp*S/(S+8KiB) + V*S/(share*bus).
type lineFit struct {
	base, step, ramp, share float64
}

// sliceFit is a ring under Simple: base + step*k + V*S/(share*bus) +
// S/(n*copy) for what a rank copies within its own memory, plus what it costs
// to fill the pipeline: fill*S/(S+fillAt), in bytes at the ring's bandwidth.
type sliceFit struct {
	base, step, share float64
	copy              float64 // GB/s; twice that in an all-reduce
	fill, fillAt      float64 // MiB
}

// switchFit is NVLink SHARP: base*lat + S/(share*bw) + fill*S/(S+fillAt), on
// NCCL's latency and bandwidth.
type switchFit struct {
	base, share  float64
	fill, fillAt float64 // us, MiB
}

// directFit is point to point: base + step*(n-1) + ramp*S/(S+rampAt) +
// V*S/(share*bus) + S/(n*copy) + fill.
type directFit struct {
	base, step, share float64
	copy              float64
	fill, fillAt      float64 // MiB
	ramp, rampAt      float64 // us, MiB
}

// performance is one class of hardware.
type performance struct {
	ll, ll128 lineFit
	simple    sliceFit
	nvls      switchFit
	nvlsTree  switchFit
	direct    directFit
}

// nvlinkPerformance is by generation; what was not measured on Volta is
// Ampere's.
var nvlinkPerformance = [...]performance{
	volta:     nvlinkAmpere,
	ampere:    nvlinkAmpere,
	hopper:    nvlinkHopper,
	blackwell: nvlinkBlackwell,
}

var (
	nvlinkAmpere = performance{
		ll:     lineFit{base: 7.5, step: 0.95, ramp: 3.75, share: 0.98},
		ll128:  lineFit{base: 10, step: 2.4, share: 0.73},
		simple: sliceFit{base: 23.8, step: 4.5, share: 0.994, copy: 706, fill: 47.5, fillAt: 204},
		direct: directFit{base: 10.45, step: 0.55, share: 0.87, copy: 997, fill: 7.9, fillAt: 26.7, ramp: 13, rampAt: 0.97},
	}
	nvlinkHopper = performance{
		ll:       lineFit{base: 4.3, step: 0.835, ramp: 1.15, share: 0.792},
		ll128:    lineFit{base: 10, step: 0.957, share: 0.707},
		simple:   sliceFit{base: 15, step: 2.3, share: 1.007, copy: 878, fill: 16, fillAt: 129},
		nvls:     switchFit{base: 0.593, share: 1.0, fill: 84.3, fillAt: 12.6},
		nvlsTree: switchFit{base: 0.99, share: 1.015, fill: 166, fillAt: 24.6},
		direct:   directFit{base: 6.25, step: 0.036, share: 0.841, copy: 5640, fill: 8.3, fillAt: 55, ramp: 6.5, rampAt: 0.045},
	}
	nvlinkBlackwell = performance{
		ll:       lineFit{base: 7.45, step: 1.22, ramp: 1.4, share: 0.786},
		ll128:    lineFit{base: 10, step: 1.93, share: 0.275},
		simple:   sliceFit{base: 12, step: 7.28, share: 1.006, copy: 1140},
		nvls:     switchFit{base: 1.33, share: 0.912, fill: 226, fillAt: 80},
		nvlsTree: switchFit{base: 1.8, share: 0.903, fill: 231, fillAt: 123},
		direct:   directFit{base: 9.7, step: 0.066, share: 0.925, copy: 789, fill: 21.5, fillAt: 87, ramp: 6.3, rampAt: 0.047},
	}
	// pciePerformance is for rings that leave NVLink. Its bus is what the links
	// of the machine give a ring, not NCCL's figure for it.
	pciePerformance = performance{
		ll:     lineFit{base: 4.1, step: 1.48, share: 0.76},
		ll128:  lineFit{base: 10, step: 2.5, share: 0.7},
		simple: sliceFit{base: 15.6, step: 0.67, share: 0.78},
		direct: directFit{base: 6.8, step: 1.25, share: 0.88},
	}
)

// peerRate is what the two channels that NCCL gives a peer over PCIe move, in GB/s:
// two RTX PRO 6000 exchange 25.7 of the 52 that their slots have, two L40S 22 of 25.
const peerRate = 25.7

// hostCopyShare is the part of its links' rate that a copy through host memory
// reaches. It depends on the machine more than anything else here: 0.15 (2 GPUs on
// one NUMA node of a box with NVLink pairs), 0.2 (4 L40S), 0.42 (4 GPUs of a DGX
// A100 without peer-to-peer copies), 0.47 (4 and 8 RTX PRO 6000), 0.54 and 0.67 (8
// and 4 RTX 5090 on dual Xeon, nccl#1639: 28 and 35 of 52 GB/s), 0.8 (A100 PCIe on
// dual EPYC, nccl-tests#178: 20 of 25). This is the median; presets whose machine
// was measured have their own.
const hostCopyShare = 0.47

// hostPerformance is for rings with a hop through host memory: as over PCIe, at
// the machine's share of the links.
func (t *Topology) hostPerformance() *performance {
	p, share := pciePerformance, t.cfg.HostCopyEfficiency
	p.ll.share, p.ll128.share, p.simple.share, p.direct.share = share, share, share, share
	return &p
}

// treeExtra is what a tree over several nodes takes beside NCCL's estimate.
const treeExtra = 16

// sharp returns how NVLink SHARP performs: inside a node or with trees.
func (p *performance) sharp(a Algorithm) switchFit {
	if a == NVLSTree {
		return p.nvlsTree
	}
	return p.nvls
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

// time returns the cost of a line protocol. bus is in GB/s; vol is the ring's
// volume.
func (f lineFit) time(bytes int64, k, vol, bus float64) cost {
	return cost{
		lat: f.base + float64(f.step*k) + float64(f.ramp*saturating(bytes, 8.0/1024)),
		bw:  f.share * bus / vol,
	}
}

func (f sliceFit) time(op Op, bytes int64, n int, k, vol, bus float64) cost {
	bus *= f.share
	per := vol / bus
	if f.copy > 0 {
		own := f.copy
		if op == AllReduce {
			own *= 2
		}
		per += 1 / (float64(n) * own)
	}
	fill := f.fill * mib / (1000 * bus) * saturating(bytes, f.fillAt)
	return cost{lat: f.base + float64(f.step*k), bw: 1 / per}.filling(bytes, fill)
}

// time returns the cost of NVLink SHARP; plugin is the part of NCCL's latency that
// the network's plugin reports, which the fits leave as it is.
func (f switchFit) time(bytes int64, e estimate, plugin float64) cost {
	return cost{lat: float64(f.base*(e.lat-plugin)) + plugin, bw: f.share * e.bw}.filling(bytes, f.fill*saturating(bytes, f.fillAt))
}

func (f directFit) time(bytes int64, n int, vol, bus float64) cost {
	bus *= f.share
	per := vol / bus
	if f.copy > 0 {
		per += 1 / (float64(n) * f.copy)
	}
	lat := f.base + float64(f.step*float64(n-1)) + float64(f.ramp*saturating(bytes, f.rampAt))
	fill := f.fill * mib / (1000 * bus) * saturating(bytes, f.fillAt)
	return cost{lat: lat, bw: 1 / per}.filling(bytes, fill)
}
