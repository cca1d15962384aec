package code

import (
	"fmt"

	"trainsim/sim"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// Hooks lets data parallelism add instructions where a unit's parameters are
// needed and where its gradients are complete.
type Hooks struct {
	Params, Grads []Hook
}

// Hook adds instructions at an operator.
type Hook func(e *Emitter, op *model.Op)

// Emitter compiles one block.
type Emitter struct {
	*Compiler
	Block Block
	Open  map[int32]uint8 // token -> slot
	Used  [Slots]bool
	what  trace.Kind // how kernels are booked outside recomputation
}

// Emitter starts a block whose kernels are booked as what.
func (c *Compiler) Emitter(what trace.Kind) *Emitter {
	return &Emitter{Compiler: c, Open: make(map[int32]uint8), what: what}
}

// Add appends an instruction and returns its index.
func (e *Emitter) Add(i Instr) int {
	e.Block.Code = append(e.Block.Code, i)
	e.Block.Memory = append(e.Block.Memory, nil)
	return len(e.Block.Code) - 1
}

// take returns a free slot; a model that opens more at once is a broken invariant.
func (e *Emitter) take() uint8 {
	for s := range e.Used {
		if !e.Used[s] {
			e.Used[s] = true
			return uint8(s)
		}
	}
	panic(fmt.Sprintf("step: more than %d open asynchronous collectives in a block", Slots))
}

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

func (e *Emitter) op(op *model.Op, h Hooks) {
	switch op.Kind {
	case model.Compute:
		e.kernel(op)
	case model.Communicate:
		if op.Comm.Group == model.Amax && e.Single {
			return
		}
		e.Communicate(op.Name, op.Comm, op.Async, op.Token)
	case model.Wait:
		slot := e.Open[op.Token]
		delete(e.Open, op.Token)
		e.Used[slot] = false
		e.Add(Instr{Kind: WaitSlot, Slot: slot, Name: e.Name(op.Name)})
	case model.Receive:
		e.Add(Instr{Kind: Receive, What: trace.PP.Kind(), Name: e.Name(op.Name), Host: e.Host.HandOff})
	case model.Send:
		e.Add(Instr{Kind: Send, What: trace.PP.Kind(), Name: e.Name(op.Name), Host: e.Host.HandOff})
	case model.HostSync:
		e.Add(Instr{Kind: SyncHost, Host: e.Host.Sync, Name: e.Name(op.Name)})
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

func (e *Emitter) kernel(op *model.Op) {
	what := e.what
	if op.Phase == model.Recompute {
		what = trace.Recompute
	}
	id := e.Price(&op.Kernel)
	e.Add(Instr{Kind: RunKernel, What: what, Name: e.Name(op.Name), Index: id, Dur: e.time(&op.Kernel), Host: e.launch(op)})
}

// launch returns what the host spends on an operator.
func (e *Emitter) launch(op *model.Op) sim.Time {
	each := e.Host.Forward
	switch {
	case e.what == trace.Optimizer:
		each = e.Host.Optimizer
	case op.Phase == model.BackwardInput || op.Phase == model.BackwardWeight:
		each = e.Host.Backward
	}
	return each*sim.Time(max(1, op.Launches)) + min(e.Host.Loop, each)*sim.Time(op.Loops)
}

// Finish lets the host wait for the GPU behind an action, where the framework
// does.
func (e *Emitter) Finish() {
	if e.Host.SyncActions {
		e.Add(Instr{Kind: SyncHost, Host: e.Host.Sync, Name: e.Name("sync")})
	}
}

// Dimensions says to which parallel dimension a group's collectives belong: whose
// stream they run on and whose time they take.
var Dimensions = [model.NumGroups]trace.Dimension{
	model.TP: trace.TP, model.CP: trace.CP, model.EP: trace.EP,
	model.DP: trace.DP, model.ExpertDP: trace.DP, model.Copies: trace.DP, model.Embedding: trace.DP,
	model.World: trace.DP, model.Amax: trace.DP,
}

// Communicate enters a collective, blocking or with a token.
func (e *Emitter) Communicate(name string, m model.Comm, async bool, token int32) {
	i := Instr{Kind: RunCollective, Group: m.Group, Comm: e.Comm(m), What: Dimensions[m.Group].Kind(), Name: e.Name(name), Host: e.Host.Collective, Dur: e.Host.HandOver}
	if async {
		i.Kind, i.Slot, i.Dur = StartCollective, e.take(), 0
		e.Open[token] = i.Slot
	}
	e.Add(i)
}

// Queue enters a collective that a later drain or index joins, not a slot.
func (e *Emitter) Queue(name string, m model.Comm) {
	e.Add(Instr{Kind: StartCollective, Slot: Slots, Group: m.Group, Comm: e.Comm(m), What: Dimensions[m.Group].Kind(), Name: e.Name(name), Host: e.Host.Collective})
}

// Drain waits for all that the rank entered on a group's stream.
func (e *Emitter) Drain(g model.Group) {
	e.Add(Instr{Kind: WaitGroup, Group: g, What: Dimensions[g].Kind(), Name: e.Name("drain")})
}

// Stream adds a memory-bound kernel of the optimizer.
func (e *Emitter) Stream(name string, class gpu.Class, read, write int64) {
	op := model.Op{Name: name, Kernel: gpu.Kernel{Kind: gpu.Memory, Class: class, ReadBytes: read, WriteBytes: write}}
	e.kernel(&op)
}
