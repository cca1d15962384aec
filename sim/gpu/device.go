package gpu

import (
	"errors"
	"math"

	"trainsim/sim"
	"trainsim/sim/gpu/generation"
	"trainsim/sim/input"
)

// Device describes a GPU: what its data sheet says, and the fitted parameters
// that turn a Kernel into a time. A preset file holds one Device, or what differs
// from that of another file.
type Device struct {
	// Name is the preset's name; it is not part of the file.
	Name string `toml:"-"`
	// Description says in a line what the device is.
	Description string `toml:"description"`
	// Aliases are the names that the driver and published tables have for it.
	Aliases []string `toml:"aliases"`
	// Architecture is NVIDIA's name of the chip's generation, as in "ampere".
	Architecture string `toml:"architecture"`
	// ComputeCapability is CUDA's number of the generation times ten, as in 80.
	ComputeCapability int `toml:"compute_capability"`
	// SMs is how many streaming multiprocessors are enabled.
	SMs int `toml:"sms"`
	// Clock is the boost clock at which the peak rates are quoted.
	Clock Frequency `toml:"boost_clock"`
	// PowerLimit is the board's power limit; the fitted efficiencies contain its effect.
	PowerLimit Power `toml:"power_limit"`
	// Memory is the device memory as the driver reports it.
	Memory sim.Bytes `toml:"memory"`
	// MemoryBandwidth is the data sheet's peak.
	MemoryBandwidth sim.Bandwidth `toml:"memory_bandwidth"`
	// Rates are the data sheet's dense tensor-core rates.
	Rates Rates `toml:"peak"`
	// ContextBytes is the memory that a CUDA context takes, which nvidia-smi
	// shows and the framework's allocator does not.
	ContextBytes sim.Bytes `toml:"cuda_context"`
	// Malloc and Free are the driver's times for one cudaMalloc and cudaFree.
	Malloc sim.Time `toml:"cuda_malloc"`
	Free   sim.Time `toml:"cuda_free"`
	// LaunchGap is the GPU's own time between two kernels of a stream.
	LaunchGap sim.Time `toml:"launch_gap"`
	// Variation is the standard deviation, as a share, of the rate at which cards
	// of this model compute: chips, cooling and therefore clocks differ.
	Variation float64 `toml:"variation"`

	Power     PowerCost     `toml:"power"`
	GEMM      GEMMCost      `toml:"gemm"`
	Attention AttentionCost `toml:"attention"`
	Streaming StreamingCost `toml:"streaming"`
}

// Generation returns what the device has in common with others of its
// compute capability.
func (d *Device) Generation() *generation.Generation { return generation.Of(d.ComputeCapability) }

// Rates holds a dense arithmetic rate for each format. A format that the
// device has no tensor-core path for is 0 and runs at the next wider one.
type Rates struct {
	FP32 FLOPS `toml:"fp32"`
	TF32 FLOPS `toml:"tf32"`
	FP16 FLOPS `toml:"fp16"`
	BF16 FLOPS `toml:"bf16"`
	FP8  FLOPS `toml:"fp8"`
}

// Peak returns the data sheet's dense rate of the format in FLOP/s, the
// denominator of MFU. Where the device lacks the format, it is the rate of the
// format that software falls back to: FP8 to FP16, BF16 and TF32 to FP32.
func (d *Device) Peak(t Dtype) float64 {
	r := &d.Rates
	switch t {
	case FP8:
		return float64(firstOf(r.FP8, r.FP16))
	case FP16:
		return float64(firstOf(r.FP16, r.FP32))
	case BF16:
		return float64(firstOf(r.BF16, r.FP32))
	case TF32:
		return float64(firstOf(r.TF32, r.FP32))
	}
	return float64(r.FP32)
}

func firstOf(a, b FLOPS) FLOPS {
	if a > 0 {
		return a
	}
	return b
}

// Validate reports every figure that the cost model cannot work with, joined, each
// an [*input.Problem] with its key.
func (d *Device) Validate() error {
	var c checks
	c.positive("sms", float64(d.SMs))
	c.positive("memory", float64(d.Memory))
	c.positive("memory_bandwidth", float64(d.MemoryBandwidth))
	c.positive("peak.fp32", float64(d.Rates.FP32))
	c.positive("peak.fp16", float64(d.Rates.FP16))
	c.notNegative("peak.tf32", float64(d.Rates.TF32))
	c.notNegative("peak.bf16", float64(d.Rates.BF16))
	c.notNegative("peak.fp8", float64(d.Rates.FP8))
	c.notNegative("boost_clock", float64(d.Clock))
	c.notNegative("power_limit", float64(d.PowerLimit))
	c.notNegative("cuda_context", float64(d.ContextBytes))
	c.notNegative("cuda_malloc", float64(d.Malloc))
	c.notNegative("cuda_free", float64(d.Free))
	c.notNegative("launch_gap", float64(d.LaunchGap))
	c.within("variation", d.Variation, 0, 0.5)
	d.Power.check(&c)
	d.GEMM.check(&c)
	d.Attention.check(&c)
	d.Streaming.check(&c)
	return errors.Join(c.errs...)
}

// checks collects what is wrong with a device.
type checks struct{ errs []error }

func (c *checks) fail(key, format string, args ...any) {
	c.errs = append(c.errs, input.Bad(key, format, args...))
}

func (c *checks) positive(key string, x float64) {
	if !(x > 0) || math.IsInf(x, 0) {
		c.fail(key, "is %g; write a positive figure", x)
	}
}

func (c *checks) notNegative(key string, x float64) {
	if !(x >= 0) || math.IsInf(x, 0) {
		c.fail(key, "is %g; write 0 or a positive figure", x)
	}
}

// share checks an efficiency, which lies in (0, 1].
func (c *checks) share(key string, x float64) {
	if !(x > 0 && x <= 1) {
		c.fail(key, "is %g; write a share of the peak above 0 and at most 1", x)
	}
}

func (c *checks) within(key string, x, lo, hi float64) {
	if !(x >= lo && x <= hi) {
		c.fail(key, "is %g; write a figure from %g to %g", x, lo, hi)
	}
}
