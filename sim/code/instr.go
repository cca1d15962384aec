package code

import (
	"trainsim/sim"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// InstrKind is what a rank does next.
type InstrKind uint8

const (
	RunKernel       InstrKind = iota // run a kernel of length dur
	RunCollective                    // enter a collective and wait for it
	StartCollective                  // enter a collective, remembered in slot
	WaitSlot                         // wait for the collective in slot
	WaitCollective                   // wait for the collective number index of a group's stream
	WaitGroup                        // wait for all that this rank entered on a group's stream
	Receive                          // wait for a part's incoming message
	Send                             // send a part's outgoing message
	SyncHost                         // the host waits for the GPU
)

// Instr is one instruction of a rank. Its memory effects lie in the block's
// memory table, not here: the engine never looks at them.
type Instr struct {
	Kind  InstrKind
	Slot  uint8
	Part  uint8 // which half of an overlapped pair
	Group model.Group
	What  trace.Kind // how the time is booked
	Comm  int32      // index into the job's communications
	Index int32      // doKernel: the kernel's number; doIndex: the collective's
	Name  uint32     // index into the compiler's names
	Dur   sim.Time
	Host  sim.Time // what the host spends to launch it
}

// Block is straight-line code: the instructions of one action.
type Block struct {
	Code   []Instr
	Memory [][]MemoryOp // allocations and frees at each instruction, nil if none
}

// MemoryOp is one step of the allocator: a tensor of a part's chunk comes or goes.
type MemoryOp struct {
	Tensor int32
	Part   uint8
	Free   bool
}

// Slots is how many asynchronous collectives of one block may be open at once.
const Slots = 32
