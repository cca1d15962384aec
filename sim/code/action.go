package code

import (
	"trainsim/sim/trace"
)

// Action is one entry of a pipeline rank's script.
type Action struct {
	Block *Block
	Name  uint32
	Parts [2]Part
	Pair  bool
	// Chunks and Keys name the code of each part, of which Block is the one for
	// sequences of the model's length.
	Chunks [2]*Chunk
	Keys   [2]BlockKey
	// Batched: the send is waited for together with the next action's receive.
	Batched bool
	// Update: the action ends with an update of the weights, of an asynchronous
	// schedule.
	Update bool
}

// List returns the action's parts.
func (a *Action) List() []Part {
	if a.Pair {
		return a.Parts[:]
	}
	return a.Parts[:1]
}

// Part is one operation of the schedule within an action: an overlapped pair
// has two.
type Part struct {
	Kind       trace.Kind // Forward, Backward, BackwardInput, BackwardWeight, Evaluation, Optimizer
	Chunk      int16
	Microbatch int32 // -1: none
	// Recv and Send are the messages that come in and go out, by their number
	// within the rank's pipeline, -1: none.
	Recv, Send int32
	From, To   int32 // pipeline ranks at the other end
	// RecvLocal and SendLocal mark hand-offs between two chunks of this rank.
	RecvLocal, SendLocal bool
}

// PlainAction returns an action without micro-batch or messages.
func PlainAction(b *Block, name uint32) Action {
	none := Part{Kind: trace.Optimizer, Microbatch: -1, Recv: -1, Send: -1}
	return Action{Block: b, Name: name, Parts: [2]Part{none, none}}
}
