package gpu

import "trainsim/sim"

// Time returns how long the kernel keeps the GPU busy in the middle of a
// training step, with the gap that its launch leaves on the device. It is a
// pure function of its arguments and takes about a microsecond.
func (d *Device) Time(k *Kernel) sim.Time {
	return d.TimeBeside(k, Beside{})
}

// TimeBeside returns the kernel's time while communication kernels hold some of
// the multiprocessors and of the memory bandwidth. The library does not know, and
// chooses its tiles for the whole device; memory-bound kernels need few
// multiprocessors to fill the memory.
func (d *Device) TimeBeside(k *Kernel, b Beside) sim.Time {
	s := d.seconds(k, max(d.SMs-max(b.SMs, 0), 1), b.Traffic)
	return d.launched(k, s*d.Power.sustained(d.share(k, s)))
}

// TimeAlone returns how long the kernel takes in a benchmark that launches it
// repeats times in a row and nothing else: a burst that is too short for the
// power limit to bite runs at full clock.
func (d *Device) TimeAlone(k *Kernel, repeats int) sim.Time {
	s := d.seconds(k, d.SMs, 0)
	return d.launched(k, s*d.Power.briefly(d.share(k, s), s*float64(repeats)))
}

// launched adds the launches' gaps; times beyond the clock's range saturate.
func (d *Device) launched(k *Kernel, seconds float64) sim.Time {
	if !(seconds >= 0) {
		seconds = 0
	}
	return sim.FromSeconds(seconds + float64(d.LaunchGap.Seconds()*float64(max(k.Launches, 1))))
}

// Faster names what to write in a scenario for a kernel to take less time.
func (d *Device) Faster(k *Kernel) string {
	half, launches := d.Time(k)/2, max(k.Launches, 1)
	switch {
	case d.LaunchGap.Times(launches) > half:
		return "a shorter gpu.launch_gap"
	case k.Kind == GEMM:
		return "higher rates in gpu.peak and gpu.gemm"
	case k.Kind == Attention:
		return "higher rates in gpu.peak and gpu.attention"
	case d.Streaming.Latency.Times(launches) > half:
		return "a shorter gpu.streaming.latency"
	}
	return "a higher gpu.memory_bandwidth or gpu.streaming." + k.Class.String()
}

// share is the part of the peak arithmetic rate that the kernel reaches in the
// given seconds.
func (d *Device) share(k *Kernel, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return k.FLOPs() / seconds / d.Peak(k.In)
}

// seconds is the kernel's time on some of the multiprocessors, beside so much
// memory traffic of others, without its launch and without the power limit.
func (d *Device) seconds(k *Kernel, sms int, beside sim.Bandwidth) float64 {
	switch k.Kind {
	case GEMM:
		return d.launchesSeconds(k, sms, beside)
	case Attention:
		return d.attentionSeconds(k, sms, beside)
	case Memory:
		return d.memorySeconds(k, beside)
	}
	return 0
}

// launchesSeconds is the time of the products of a GEMM: in one batched kernel,
// or spread over several launches that do not overlap.
func (d *Device) launchesSeconds(k *Kernel, sms int, beside sim.Bandwidth) float64 {
	n := min(max(k.Launches, 1), max(k.Batch, 1))
	if n == 1 {
		return d.gemmSeconds(k, sms, beside)
	}
	one := *k
	one.Batch, one.Launches = ceilDiv(k.Batch, n), 1
	each := d.gemmSeconds(&one, sms, beside) + d.GEMM.Apart.Seconds()
	return (each + float64(d.GEMM.ColdOperands*d.gemmTraffic(&one, beside))) * float64(n)
}

// ceilDiv returns a/b rounded up for a >= 0 and b > 0.
func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
