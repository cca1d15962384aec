package step

import (
	"trainsim/sim"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// instrKind is what a rank does next.
type instrKind uint8

const (
	doKernel  instrKind = iota // run a kernel of length dur
	doCollect                  // enter a collective and wait for it
	doAsync                    // enter a collective, remembered in slot
	doJoin                     // wait for the collective in slot
	doIndex                    // wait for the collective number index of a group's stream
	doDrain                    // wait for all that this rank entered on a group's stream
	doReceive                  // wait for a part's incoming message
	doSend                     // send a part's outgoing message
	doSync                     // the host waits for the GPU
)

// instr is one instruction of a rank. Its memory effects lie in the block's
// memory table, not here: the engine never looks at them.
type instr struct {
	kind  instrKind
	slot  uint8
	part  uint8 // which half of an overlapped pair
	group model.Group
	what  trace.Kind // how the time is booked
	comm  int32      // index into the job's communications
	index int32      // doKernel: the kernel's number; doIndex: the collective's
	name  uint32     // index into the compiler's names
	dur   sim.Time
	host  sim.Time // what the host spends to launch it
}

// block is straight-line code: the instructions of one action.
type block struct {
	code   []instr
	memory [][]memOp // allocations and frees at each instruction, nil if none
}

// memOp is one step of the allocator: a tensor of a part's chunk comes or goes.
type memOp struct {
	tensor int32
	part   uint8
	free   bool
}

// part is one operation of the schedule within an action: an overlapped pair
// has two.
type part struct {
	kind       trace.Kind // Forward, Backward, BackwardInput, BackwardWeight, Optimizer
	chunk      int16
	microbatch int32 // -1: none
	// Incoming and outgoing message within the rank's pipeline, -1: none.
	recv, send int32
	from, to   int32 // pipeline ranks at the other end
	// recvLocal and sendLocal mark hand-offs between two chunks of this rank.
	recvLocal, sendLocal bool
}

// action is one entry of a pipeline rank's script.
type action struct {
	block *block
	name  uint32
	parts [2]part
	pair  bool
	// chunks and keys name the code of each part, of which block is the one for
	// sequences of the model's length.
	chunks [2]*chunkCode
	keys   [2]blockKey
	// fused: the send is waited for together with the next action's receive.
	fused bool
	// update: the action ends with an update of the weights, of an
	// asynchronous schedule.
	update bool
}

// list returns the action's parts.
func (a *action) list() []part {
	if a.pair {
		return a.parts[:]
	}
	return a.parts[:1]
}

// bare returns an action without micro-batch or messages.
func bare(b *block, name uint32) action {
	none := part{kind: trace.Optimizer, microbatch: -1, recv: -1, send: -1}
	return action{block: b, name: name, parts: [2]part{none, none}}
}

// comm is one distinct collective of a job: every group of its kind has a plan
// for it.
type comm struct {
	model.Comm
}

// slots is how many asynchronous collectives of one block may be open at once.
const slots = 32
