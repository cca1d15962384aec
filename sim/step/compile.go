package step

import (
	"fmt"
	"math"

	"trainsim/sim"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// compiler turns operators into instructions: it prices kernels, numbers
// collectives and names, and assigns slots to asynchronous collectives.
type compiler struct {
	device *gpu.Device
	host   hostCost
	slow   float64              // of the job's slowest card, which sets the pace
	single bool                 // stages have one rank: nobody to share FP8\'s scales with
	kernel map[gpu.Kernel]int32 // number of a distinct kernel
	list   []gpu.Kernel
	times  []sim.Time // by kernel, alone
	comms  []comm
	commID map[model.Comm]int32
	names  []string
	nameID map[string]uint32
}

func newCompiler(device *gpu.Device, host hostCost, gpus int) *compiler {
	return &compiler{
		device: device, host: host, slow: device.SlowestOf(gpus),
		kernel: make(map[gpu.Kernel]int32),
		commID: make(map[model.Comm]int32),
		nameID: make(map[string]uint32),
	}
}

func (c *compiler) name(s string) uint32 {
	id, ok := c.nameID[s]
	if !ok {
		id = uint32(len(c.names))
		c.names = append(c.names, s)
		c.nameID[s] = id
	}
	return id
}

func (c *compiler) comm(m model.Comm) int32 {
	id, ok := c.commID[m]
	if !ok {
		id = int32(len(c.comms))
		c.comms = append(c.comms, comm{m})
		c.commID[m] = id
	}
	return id
}

// price numbers a kernel and times it.
func (c *compiler) price(k *gpu.Kernel) int32 {
	id, ok := c.kernel[*k]
	if !ok {
		id = int32(len(c.list))
		c.kernel[*k] = id
		c.list = append(c.list, *k)
		c.times = append(c.times, c.device.Time(k))
	}
	return id
}

// time is a kernel's time on the job's slowest card, alone.
func (c *compiler) time(k *gpu.Kernel) sim.Time { return c.paced(k, c.times[c.price(k)]) }

// queues reports whether a kernel has far more thread blocks than the device runs
// at once, so that multiprocessors that become free are taken at once. Matrix
// products spread their tiles over those that they find (persistent kernels, or
// a wave or two); holding on to that is also what published steps with overlapped
// tensor-parallel collectives fit.
func (c *compiler) queues(kernel int32) bool { return c.list[kernel].Kind != gpu.GEMM }

// beside is a priced kernel's time while collectives take multiprocessors and
// memory bandwidth.
func (c *compiler) beside(key slowedKey) sim.Time {
	k := &c.list[key.kernel]
	return c.paced(k, c.device.TimeBeside(k, gpu.Beside{SMs: int(key.held), Traffic: sim.Bandwidth(key.traffic)}))
}

// paced turns a kernel's time on a typical card into that on the slowest.
func (c *compiler) paced(k *gpu.Kernel, t sim.Time) sim.Time {
	if pace := k.Pace(c.slow); pace != 1 {
		return sim.Time(math.Round(float64(t) * pace))
	}
	return t
}

// hooks lets data parallelism add instructions where a unit's parameters are
// needed and where its gradients are complete.
type hooks struct {
	params, grads []hook
}

type hook func(e *emitter, op *model.Op)

// emitter compiles one block.
type emitter struct {
	*compiler
	block block
	open  map[int32]uint8 // token -> slot
	used  [slots]bool
	what  trace.Kind // how kernels are booked outside recomputation
}

func (c *compiler) emitter(what trace.Kind) *emitter {
	return &emitter{compiler: c, open: make(map[int32]uint8), what: what}
}

// add appends an instruction and returns its index.
func (e *emitter) add(i instr) int {
	e.block.code = append(e.block.code, i)
	e.block.memory = append(e.block.memory, nil)
	return len(e.block.code) - 1
}

// take returns a free slot; a model that opens more at once is a broken invariant.
func (e *emitter) take() uint8 {
	for s := range e.used {
		if !e.used[s] {
			e.used[s] = true
			return uint8(s)
		}
	}
	panic(fmt.Sprintf("step: more than %d open asynchronous collectives in a block", slots))
}

// ops compiles a run of operators with the tensors to free after each.
func (e *emitter) ops(ops []model.Op, frees [][]model.TensorID, h hooks) {
	for i := range ops {
		op := &ops[i]
		first := len(e.block.code)
		e.op(op, h)
		if len(e.block.code) > first {
			e.alloc(first, op.Writes)
		}
		if frees != nil && len(e.block.code) > 0 {
			e.release(max(first, len(e.block.code)-1), frees[i])
		}
	}
}

func (e *emitter) alloc(at int, ids []model.TensorID) {
	for _, id := range ids {
		e.block.memory[at] = append(e.block.memory[at], memOp{tensor: int32(id)})
	}
}

func (e *emitter) release(at int, ids []model.TensorID) {
	at = min(at, len(e.block.code)-1)
	for _, id := range ids {
		e.block.memory[at] = append(e.block.memory[at], memOp{tensor: int32(id), free: true})
	}
}

func (e *emitter) op(op *model.Op, h hooks) {
	switch op.Kind {
	case model.Compute:
		e.kernel(op)
	case model.Communicate:
		if op.Comm.Group == model.Amax && e.single {
			return
		}
		e.communicate(op.Name, op.Comm, op.Async, op.Token)
	case model.Wait:
		slot := e.open[op.Token]
		delete(e.open, op.Token)
		e.used[slot] = false
		e.add(instr{kind: doJoin, slot: slot, name: e.name(op.Name)})
	case model.Receive:
		e.add(instr{kind: doReceive, what: trace.CommPP, name: e.name(op.Name), host: e.host.handOff})
	case model.Send:
		e.add(instr{kind: doSend, what: trace.CommPP, name: e.name(op.Name), host: e.host.handOff})
	case model.HostSync:
		e.add(instr{kind: doSync, host: e.host.sync, name: e.name(op.Name)})
	case model.ParamsNeeded:
		for _, f := range h.params {
			f(e, op)
		}
	case model.GradsReady:
		for _, f := range h.grads {
			f(e, op)
		}
	}
}

func (e *emitter) kernel(op *model.Op) {
	what := e.what
	if op.Phase == model.Recompute {
		what = trace.Recompute
	}
	id := e.price(&op.Kernel)
	e.add(instr{kind: doKernel, what: what, name: e.name(op.Name), index: id, dur: e.time(&op.Kernel), host: e.launch(op)})
}

// launch returns what the host spends on an operator.
func (e *emitter) launch(op *model.Op) sim.Time {
	each := e.host.forward
	switch {
	case e.what == trace.Optimizer:
		each = e.host.optimizer
	case op.Phase == model.BackwardInput || op.Phase == model.BackwardWeight:
		each = e.host.backward
	}
	return each*sim.Time(max(1, op.Launches)) + min(e.host.loop, each)*sim.Time(op.Loops)
}

// finish lets the host wait for the GPU behind an action, where the framework
// does.
func (e *emitter) finish() {
	if e.host.syncActions {
		e.add(instr{kind: doSync, host: e.host.sync, name: e.name("sync")})
	}
}

var groupKinds = [model.NumGroups]trace.Kind{
	model.TP: trace.CommTP, model.CP: trace.CommCP, model.EP: trace.CommEP,
	model.DP: trace.CommDP, model.ExpertDP: trace.CommDP, model.Copies: trace.CommDP, model.Embedding: trace.CommDP, model.World: trace.CommDP,
	model.Amax: trace.CommDP,
}

// communicate enters a collective, blocking or with a token.
func (e *emitter) communicate(name string, m model.Comm, async bool, token int32) {
	i := instr{kind: doCollect, group: m.Group, comm: e.comm(m), what: groupKinds[m.Group], name: e.name(name), host: e.host.collective, dur: e.host.handOver}
	if async {
		i.kind, i.slot, i.dur = doAsync, e.take(), 0
		e.open[token] = i.slot
	}
	e.add(i)
}

// queue enters a collective that a later drain or index joins, not a slot.
func (e *emitter) queue(name string, m model.Comm) {
	e.add(instr{kind: doAsync, slot: slots, group: m.Group, comm: e.comm(m), what: groupKinds[m.Group], name: e.name(name), host: e.host.collective})
}

func (e *emitter) drain(g model.Group) {
	e.add(instr{kind: doDrain, group: g, what: groupKinds[g], name: e.name("drain")})
}
