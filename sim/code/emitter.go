package code

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// Emitter compiles one block.
type Emitter struct {
	*Compiler
	Block Block
	open  map[int32]uint8 // token -> slot
	used  [Slots]bool
	cause trace.Kind // how kernels are booked outside recomputation
}

// Emitter starts a block whose kernels are booked to a cause.
func (c *Compiler) Emitter(cause trace.Kind) *Emitter {
	return &Emitter{Compiler: c, open: make(map[int32]uint8), cause: cause}
}

// Hooks lets data parallelism add instructions where a unit's parameters are
// needed and where its gradients are complete.
type Hooks struct {
	Params, Grads []Hook
}

// Hook adds instructions at an operator.
type Hook func(e *Emitter, op *model.Op)

// Ops compiles a run of operators with the tensors to free after each.
func (e *Emitter) Ops(ops []model.Op, frees [][]model.TensorID, h Hooks) {
	for i := range ops {
		op := &ops[i]
		first := len(e.Block.Code)
		e.op(op, h)
		if len(e.Block.Code) > first {
			e.alloc(first, op.Writes)
		}
		if frees != nil && len(e.Block.Code) > 0 {
			e.release(max(first, len(e.Block.Code)-1), frees[i])
		}
	}
}

// op compiles one operator.
func (e *Emitter) op(op *model.Op, h Hooks) {
	switch op.Kind {
	case model.Compute:
		e.kernel(op)
	case model.Communicate:
		if op.Comm.Group == model.Amax && e.OneRankStages {
			return
		}
		if op.Async {
			e.StartCollective(op.Name, op.Comm, op.Token)
		} else {
			e.RunCollective(op.Name, op.Comm)
		}
	case model.Wait:
		e.WaitToken(op.Name, op.Token)
	case model.Receive:
		e.add(Instr{Kind: Receive, Cause: trace.PP.Kind(), Name: e.Name(op.Name), HostTime: e.Host.HandOff})
	case model.Send:
		e.add(Instr{Kind: Send, Cause: trace.PP.Kind(), Name: e.Name(op.Name), HostTime: e.Host.HandOff})
	case model.HostSync:
		e.SyncHost(op.Name)
	case model.ParamsNeeded:
		for _, f := range h.Params {
			f(e, op)
		}
	case model.GradsReady:
		for _, f := range h.Grads {
			f(e, op)
		}
	}
}

// kernel runs an operator's kernel.
func (e *Emitter) kernel(op *model.Op) {
	cause := e.cause
	if op.Phase == model.Recompute {
		cause = trace.Recompute
	}
	id := e.Price(&op.Kernel)
	e.add(Instr{Kind: RunKernel, Cause: cause, Name: e.Name(op.Name), Index: id,
		Pieces: int32(op.Pieces), Time: e.Time(&op.Kernel), HostTime: e.launch(op)})
}

// launch returns what the host spends on an operator.
func (e *Emitter) launch(op *model.Op) sim.Time {
	each := e.Host.Forward
	switch {
	case e.cause == trace.Optimizer:
		each = e.Host.Optimizer
	case op.Phase == model.BackwardInput || op.Phase == model.BackwardWeight:
		each = e.Host.Backward
	}
	return each*sim.Time(max(1, op.Launches)) + min(e.Host.Loop, each)*sim.Time(op.Loops)
}

// MemoryKernel adds a memory-bound kernel of the optimizer.
func (e *Emitter) MemoryKernel(name string, class gpu.Class, read, write int64) {
	op := model.Op{Name: name, Kernel: gpu.Kernel{Kind: gpu.Memory, Class: class, ReadBytes: read, WriteBytes: write}}
	e.kernel(&op)
}

// RunCollective enters a collective and waits for it.
func (e *Emitter) RunCollective(name string, m model.Comm) {
	i := e.collective(RunCollective, name, m)
	i.Time = e.Host.HandOver
	e.add(i)
}

// StartCollective enters a collective that WaitToken waits for.
func (e *Emitter) StartCollective(name string, m model.Comm, token int32) {
	i := e.collective(StartCollective, name, m)
	i.Slot = e.take()
	e.open[token] = i.Slot
	e.add(i)
}

// QueueCollective enters a collective that holds no slot: WaitCollective or
// WaitGroup waits for it.
func (e *Emitter) QueueCollective(name string, m model.Comm) {
	i := e.collective(StartCollective, name, m)
	i.Slot = Slots
	e.add(i)
}

func (e *Emitter) collective(kind InstrKind, name string, m model.Comm) Instr {
	return Instr{
		Kind: kind, Group: m.Group, Comm: e.Comm(m), Cause: Dimensions[m.Group].Kind(), Name: e.Name(name),
		HostTime: e.Host.Collective,
	}
}

// WaitToken waits for the collective that was started with a token.
func (e *Emitter) WaitToken(name string, token int32) {
	slot := e.open[token]
	delete(e.open, token)
	e.used[slot] = false
	e.add(Instr{Kind: WaitSlot, Slot: slot, Name: e.Name(name)})
}

// WaitCollective waits for the collective of a number on a group's stream.
func (e *Emitter) WaitCollective(name string, g model.Group, number int32) {
	e.add(Instr{Kind: WaitCollective, Group: g, Index: number, Cause: Dimensions[g].Kind(), Name: e.Name(name)})
}

// WaitGroup waits for all that the rank entered on a group's stream.
func (e *Emitter) WaitGroup(g model.Group) {
	e.add(Instr{Kind: WaitGroup, Group: g, Cause: Dimensions[g].Kind(), Name: e.Name("drain")})
}

// SyncAction lets the host wait for the GPU after an action, where the framework
// does.
func (e *Emitter) SyncAction() {
	if e.Host.SyncActions {
		e.SyncHost("sync")
	}
}

// SyncHost lets the host wait for the GPU.
func (e *Emitter) SyncHost(name string) {
	e.add(Instr{Kind: SyncHost, HostTime: e.Host.Sync, Name: e.Name(name)})
}

// take returns a free slot; a model that opens more at once is a broken invariant.
func (e *Emitter) take() uint8 {
	for s := range e.used {
		if !e.used[s] {
			e.used[s] = true
			return uint8(s)
		}
	}
	panic(fmt.Sprintf("code: more than %d open asynchronous collectives in a block", Slots))
}

// add appends an instruction.
func (e *Emitter) add(i Instr) {
	e.Block.Code = append(e.Block.Code, i)
	e.Block.Memory = append(e.Block.Memory, nil)
}

// alloc lets tensors come at an instruction, release lets them go.
func (e *Emitter) alloc(at int, ids []model.TensorID) {
	for _, id := range ids {
		e.Block.Memory[at] = append(e.Block.Memory[at], MemoryOp{Tensor: int32(id)})
	}
}

func (e *Emitter) release(at int, ids []model.TensorID) {
	at = min(at, len(e.Block.Code)-1)
	for _, id := range ids {
		e.Block.Memory[at] = append(e.Block.Memory[at], MemoryOp{Tensor: int32(id), Free: true})
	}
}

// Dimensions says to which parallel dimension a group's collectives belong: whose
// stream they run on and whose time they take.
var Dimensions = [model.NumGroups]trace.Dimension{
	model.TP: trace.TP, model.CP: trace.CP, model.EP: trace.EP,
	model.DP: trace.DP, model.ExpertDP: trace.DP, model.Copies: trace.DP, model.Embedding: trace.DP,
	model.World: trace.DP, model.Amax: trace.DP,
}
