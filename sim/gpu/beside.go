package gpu

import "trainsim/sim"

// Beside is what communication kernels take from a kernel that runs at the same
// time.
type Beside struct {
	// SMs is how many multiprocessors they hold, as NCCL's do, one for each of
	// its channels.
	SMs int
	// Traffic is what they read and write in device memory.
	Traffic sim.Bandwidth
}

// room returns the memory bandwidth that a kernel has which reaches a share of it
// when alone. The memory gives out no more than the best class of kernels
// reaches, and shares it by max-min fairness: collectives move what their links
// let them and no more, so that the kernel has the rest, and at least a half.
func (d *Device) room(share float64, beside sim.Bandwidth) float64 {
	own := float64(d.MemoryBandwidth) * share
	if beside <= 0 {
		return own
	}
	all := float64(float64(d.MemoryBandwidth) * d.Streaming.best())
	return min(own, max(all-float64(beside), all/2))
}

// best returns the largest share of the memory bandwidth that a class reaches.
func (s *StreamingCost) best() float64 {
	share := 0.0
	for class := range NumClasses {
		share = max(share, s.of(class))
	}
	return share
}
