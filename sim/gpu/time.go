package gpu

import "trainsim/sim"

// Time returns how long the kernel keeps the GPU busy, with the gap that its
// launch leaves on the device. It is a pure function of its arguments.
func (d *Device) Time(k *Kernel) sim.Time {
	var seconds float64
	switch k.Kind {
	case GEMM:
		seconds = d.gemmSeconds(k)
	case Attention:
		seconds = d.attentionSeconds(k)
	case Memory:
		seconds = d.memorySeconds(k)
	}
	return max(sim.FromSeconds(seconds), 0) + d.LaunchGap*sim.Time(max(k.Launches, 1))
}

// ceilDiv returns a/b rounded up for a >= 0 and b > 0.
func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
