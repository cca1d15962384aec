package code

import (
	"math"

	"trainsim/sim"
	"trainsim/sim/framework"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// Compiler turns operators into instructions: it prices kernels, numbers
// collectives and names, and assigns slots to asynchronous collectives.
type Compiler struct {
	Host  framework.Host
	Comms []model.Comm // distinct collectives; every group of the kind has a plan for each
	Names []string
	// Pace is the speed of the job's slowest card, which sets the pace.
	Pace float64
	// OneRankStages: nobody shares FP8's scales.
	OneRankStages bool

	device   *gpu.Device
	kernels  []gpu.Kernel // distinct ones
	times    []sim.Time   // by kernel, alone
	kernelID map[gpu.Kernel]int32
	commID   map[model.Comm]int32
	nameID   map[string]uint32
}

// NewCompiler makes a compiler for a job on so many GPUs.
func NewCompiler(device *gpu.Device, host framework.Host, gpus int) *Compiler {
	return &Compiler{
		device: device, Host: host, Pace: device.SlowestOf(gpus),
		kernelID: make(map[gpu.Kernel]int32),
		commID:   make(map[model.Comm]int32),
		nameID:   make(map[string]uint32),
	}
}

// BlockingTime sums kernels and the tensor-parallel collectives that a rank
// waits for, each alone; collective says how long one takes.
func (c *Compiler) BlockingTime(ops []model.Op, collective func(model.Comm) sim.Time) sim.Time {
	var sum sim.Time
	for i := range ops {
		op := &ops[i]
		switch {
		case op.Kind == model.Compute:
			sum = sum.Plus(c.Time(&op.Kernel))
		case op.Kind == model.Communicate && !op.Async && op.Comm.Group == model.TP:
			sum = sum.Plus(collective(op.Comm))
		}
	}
	return sum
}

// Time is a kernel's time on the job's slowest card, alone.
func (c *Compiler) Time(k *gpu.Kernel) sim.Time {
	id := c.Price(k)
	return c.paced(k, c.times[id])
}

// KernelBeside is a kernel beside collectives that hold some multiprocessors and
// move so many bytes a second in device memory.
type KernelBeside struct {
	Kernel, SMs int32
	Traffic     int64
}

// TimeBeside is a priced kernel's time while collectives take multiprocessors and
// memory bandwidth.
func (c *Compiler) TimeBeside(key KernelBeside) sim.Time {
	k := &c.kernels[key.Kernel]
	return c.paced(k, c.device.TimeBeside(k, gpu.Beside{SMs: int(key.SMs), Traffic: sim.Bandwidth(key.Traffic)}))
}

// PartlyBeside is the time of a kernel that takes alone or beside a collective, where
// the collective is over after a while.
func PartlyBeside(alone, beside, shared sim.Time) sim.Time {
	return shared.Plus(sim.FromPicoseconds(float64(alone) * (1 - float64(shared)/float64(beside))))
}

// PiecesBeside is the same for kernels in a row, which are pieces of one: what has
// begun beside the collective goes on so, the rest has the device to itself.
func PiecesBeside(alone, beside, shared sim.Time, pieces int32) sim.Time {
	n := float64(pieces)
	begun := min(math.Ceil(float64(shared)/float64(beside)*n), n)
	return sim.FromPicoseconds((float64(float64(beside)*begun) + float64(float64(alone)*(n-begun))) / n)
}

// Queues reports whether a kernel has far more thread blocks than the device runs
// at once, so that multiprocessors that become free are taken at once. Matrix
// products spread their tiles over those that they find (persistent kernels, or
// a wave or two); holding on to that is also what published steps with overlapped
// tensor-parallel collectives fit.
func (c *Compiler) Queues(kernel int32) bool { return c.kernels[kernel].Kind != gpu.GEMM }

// Slowest returns the priced kernel that takes longest, and its time.
func (c *Compiler) Slowest() (kernel int32, took sim.Time) {
	for id, t := range c.times {
		if t > took {
			kernel, took = int32(id), t
		}
	}
	return kernel, took
}

// Faster names the keys of a scenario that make a priced kernel faster.
func (c *Compiler) Faster(kernel int32) string { return c.device.Faster(&c.kernels[kernel]) }

// paced turns a kernel's time on a typical card into that on the slowest.
func (c *Compiler) paced(k *gpu.Kernel, t sim.Time) sim.Time {
	if pace := k.Pace(c.Pace); pace != 1 {
		return sim.FromPicoseconds(float64(t) * pace)
	}
	return t
}

// Price numbers a kernel and times it.
func (c *Compiler) Price(k *gpu.Kernel) int32 {
	id, ok := c.kernelID[*k]
	if !ok {
		id = int32(len(c.kernels))
		c.kernelID[*k] = id
		c.kernels = append(c.kernels, *k)
		c.times = append(c.times, c.device.Time(k))
	}
	return id
}

// Comm numbers a collective.
func (c *Compiler) Comm(m model.Comm) int32 {
	id, ok := c.commID[m]
	if !ok {
		id = int32(len(c.Comms))
		c.Comms = append(c.Comms, m)
		c.commID[m] = id
	}
	return id
}

// Name numbers a name.
func (c *Compiler) Name(s string) uint32 {
	id, ok := c.nameID[s]
	if !ok {
		id = uint32(len(c.Names))
		c.Names = append(c.Names, s)
		c.nameID[s] = id
	}
	return id
}
