package code

import (
	"trainsim/sim"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// Block is straight-line code: the instructions of one action.
type Block struct {
	Code   []Instr
	Memory [][]MemoryOp // allocations and frees at each instruction, nil if none
}

// Instr is one instruction of a rank. Its memory effects lie in the block's
// memory table, not here: the engine never looks at them.
type Instr struct {
	Kind     InstrKind
	Slot     uint8
	Part     uint8 // which half of an overlapped pair
	Pieces   int32 // RunKernel: how many kernels in a row it is; 1 when 0
	Group    model.Group
	Cause    trace.Kind // what its time is booked to
	Comm     int32      // number of the collective among the compiler's
	Index    int32      // RunKernel: the kernel's number; WaitCollective: the collective's on its stream
	Name     uint32     // number among the compiler's names
	Time     sim.Time   // RunKernel: alone; RunCollective: what it costs the GPU beside its own time
	HostTime sim.Time   // what the host spends to launch it
}

// InstrKind is what a rank does next.
type InstrKind uint8

// The kinds of instructions.
const (
	RunKernel       InstrKind = iota // run a kernel
	RunCollective                    // enter a collective and wait for it
	StartCollective                  // enter a collective, remembered in a slot
	WaitSlot                         // wait for the collective in a slot
	WaitCollective                   // wait for the collective of a number on a group's stream
	WaitGroup                        // wait for all that this rank entered on a group's stream
	Receive                          // wait for a part's incoming message
	Send                             // send a part's outgoing message
	SyncHost                         // the host waits for the GPU
)

// Launches reports whether the GPU waits for the host to launch the instruction.
func (k InstrKind) Launches() bool {
	return k != SyncHost && k != WaitSlot && k != WaitCollective && k != WaitGroup
}

// Slots is how many asynchronous collectives of one block may be open at once.
// An instruction whose Slot is Slots holds none.
const Slots = 32

// MemoryOp is one step of the allocator: a tensor of a part's chunk comes or goes.
type MemoryOp struct {
	Tensor int32
	Part   uint8
	Free   bool
}
