package code

import (
	"trainsim/sim"
	"trainsim/sim/framework"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// Compiler turns operators into instructions: it prices kernels, numbers
// collectives and names, and assigns slots to asynchronous collectives.
type Compiler struct {
	device *gpu.Device
	Host   framework.Host
	Slow   float64              // of the job's slowest card, which sets the pace
	Single bool                 // stages have one rank: nobody to share FP8's scales with
	kernel map[gpu.Kernel]int32 // number of a distinct kernel
	list   []gpu.Kernel
	Times  []sim.Time   // by kernel, alone
	Comms  []model.Comm // distinct collectives; every group of the kind has a plan for each
	commID map[model.Comm]int32
	Names  []string
	nameID map[string]uint32
}

// NewCompiler makes a compiler for a job on so many GPUs.
func NewCompiler(device *gpu.Device, host framework.Host, gpus int) *Compiler {
	return &Compiler{
		device: device, Host: host, Slow: device.SlowestOf(gpus),
		kernel: make(map[gpu.Kernel]int32),
		commID: make(map[model.Comm]int32),
		nameID: make(map[string]uint32),
	}
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

// Price numbers a kernel and times it.
func (c *Compiler) Price(k *gpu.Kernel) int32 {
	id, ok := c.kernel[*k]
	if !ok {
		id = int32(len(c.list))
		c.kernel[*k] = id
		c.list = append(c.list, *k)
		c.Times = append(c.Times, c.device.Time(k))
	}
	return id
}

// time is a kernel's time on the job's slowest card, alone.
func (c *Compiler) time(k *gpu.Kernel) sim.Time { return c.paced(k, c.Times[c.Price(k)]) }

// BlockingTime sums kernels and the tensor-parallel collectives that a rank
// waits for, each alone; collective says how long one takes.
func (c *Compiler) BlockingTime(ops []model.Op, collective func(model.Comm) sim.Time) sim.Time {
	var sum sim.Time
	for i := range ops {
		op := &ops[i]
		switch {
		case op.Kind == model.Compute:
			sum = sum.Plus(c.time(&op.Kernel))
		case op.Kind == model.Communicate && !op.Async && op.Comm.Group == model.TP:
			sum = sum.Plus(collective(op.Comm))
		}
	}
	return sum
}

// Slowest returns the priced kernel that takes longest, and its time.
func (c *Compiler) Slowest() (kernel int32, took sim.Time) {
	for id, t := range c.Times {
		if t > took {
			kernel, took = int32(id), t
		}
	}
	return kernel, took
}

// Faster names the keys of a scenario that make a priced kernel faster.
func (c *Compiler) Faster(kernel int32) string { return c.device.Faster(&c.list[kernel]) }

// Queues reports whether a kernel has far more thread blocks than the device runs
// at once, so that multiprocessors that become free are taken at once. Matrix
// products spread their tiles over those that they find (persistent kernels, or
// a wave or two); holding on to that is also what published steps with overlapped
// tensor-parallel collectives fit.
func (c *Compiler) Queues(kernel int32) bool { return c.list[kernel].Kind != gpu.GEMM }

// Beside is a priced kernel's time while collectives take multiprocessors and
// memory bandwidth.
func (c *Compiler) Beside(key BesideKey) sim.Time {
	k := &c.list[key.Kernel]
	return c.paced(k, c.device.TimeBeside(k, gpu.Beside{SMs: int(key.Held), Traffic: sim.Bandwidth(key.Traffic)}))
}

// paced turns a kernel's time on a typical card into that on the slowest.
func (c *Compiler) paced(k *gpu.Kernel, t sim.Time) sim.Time {
	if pace := k.Pace(c.Slow); pace != 1 {
		return sim.FromPicoseconds(float64(t) * pace)
	}
	return t
}

// BesideKey is a kernel beside collectives that hold some multiprocessors and
// move so many bytes a second in device memory.
type BesideKey struct {
	Kernel, Held int32
	Traffic      int64
}

// Outlast is the time of a kernel that takes alone or beside a collective, where
// the collective is over after a while.
func Outlast(alone, beside, shared sim.Time) sim.Time {
	return shared.Plus(sim.FromPicoseconds(float64(alone) * (1 - float64(shared)/float64(beside))))
}
