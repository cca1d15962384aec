package model

import "trainsim/sim/gpu"

// OpKind says what an operator does.
type OpKind uint8

// Kinds of operators.
const (
	// Compute launches Kernel on the compute stream.
	Compute OpKind = iota
	// Communicate runs Comm. When Async it goes to the group's own stream and a
	// later Wait joins it; otherwise the compute stream waits for it.
	Communicate
	// Wait joins the asynchronous collective with the same Token.
	Wait
	// Receive takes the chunk's input (or its output's gradient) from the
	// neighbouring stage.
	Receive
	// Send gives the chunk's output (or its input's gradient) to the
	// neighbouring stage.
	Send
	// ParamsNeeded marks where the parameters of a layer are first used.
	ParamsNeeded
	// GradsReady marks where the gradients of a layer are complete.
	GradsReady
	// Release marks where the gathered parameters of a unit are no longer
	// needed by the forward.
	Release
	// HostSync lets the host wait for the GPU, to read a result.
	HostSync
)

// Phase is the part of a step that an operator belongs to.
type Phase uint8

// Phases of operators.
const (
	Forward Phase = iota
	BackwardInput
	BackwardWeight
	Recompute
)

// Group is the set of ranks that a collective spans.
type Group uint8

// Groups of ranks.
const (
	TP Group = iota
	CP
	EP
	DP        // data-parallel replicas of one stage (with context parallelism folded in)
	ExpertDP  // ranks that hold the same experts of one stage
	Copies    // ranks that hold the same shard where a shard spans some replicas (hybrid FSDP)
	Embedding // first and last stage, which share the tied embedding
	World     // all ranks of one replica: gradient norm, overflow check
	Amax      // all ranks of one stage: FP8's scales
	NumGroups
)

// String returns the group's name in reports.
func (g Group) String() string {
	return [...]string{"tp", "cp", "ep", "dp", "expert-dp", "copies", "embedding", "world", "amax"}[g]
}

// Collective is a communication pattern.
type Collective uint8

// Collectives.
const (
	AllReduce Collective = iota
	AllGather
	ReduceScatter
	AllToAll
	SendRecv
)

// String returns the collective's name in reports.
func (c Collective) String() string {
	return [...]string{"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "send-recv"}[c]
}

// Comm is one collective: Bytes is the full vector (the gathered or reduced
// size), as NCCL's cost model counts it.
type Comm struct {
	Group      Group
	Collective Collective
	Bytes      int64
}

// TensorID indexes Chunk.Tensors.
type TensorID int32

// Tensor is one allocation.
type Tensor struct {
	Name string
	// Layer is the number of its layer in the chunk, from 1 on; 0 at the ends.
	Layer int32
	Bytes int64
	// Rows, Width and Element are what Bytes is the product of.
	Rows, Width, Element int64
	// Kept tensors are allocated once, at their first use, and never freed:
	// all chunks and micro-batches of a rank share the one of a Name.
	Kept bool
	// Weights hold parameters: those that FSDP has gathered, and kept copies in
	// another format.
	Weights bool
}

// Op is one operator.
type Op struct {
	Name   string
	Kind   OpKind
	Phase  Phase
	Async  bool
	Token  int32 // joins an asynchronous collective and its Wait
	Kernel gpu.Kernel
	Comm   Comm
	// Launches is how many operators of an eager framework this one stands
	// for: what the host pays. 1 when 0.
	Launches int32
	// Pieces is how many kernels in a row a product is cut into, to run beside the
	// pieces of a collective; 1 when 0.
	Pieces int64
	// Loops is how many kernels the operator's own code launches one by one.
	Loops int32
	// Unit is what ParamsNeeded and GradsReady are about: 0 the embedding, then
	// the chunk's layers from 1 on, then the head.
	Unit int32
	// Elements is the number of this rank's trainable parameters in Unit, by
	// sharding; Frozen are the bytes of the others.
	Elements      [NumShardings]int64
	Frozen        int64
	Reads, Writes []TensorID
}

// Chunk is what one rank does for one micro-batch in one virtual stage.
type Chunk struct {
	Run               Run
	Tensors           []Tensor
	Forward, Backward []Op
	// Weights holds the elements of each trainable parameter tensor of the rank,
	// by sharding and in the order in which the model makes them.
	Weights [NumShardings][]int64
	// Frozen holds the bytes of each parameter tensor that is not trained.
	Frozen []int64
	// Tied is how many of the parameters the first and the last stage share; 0
	// when the embedding is not tied.
	Tied int64
	// Input and Output are the bytes of a hand-off from the stage before and to
	// the one behind, and of those of their gradients on the way back; 0 at an end.
	Input, Output int64
}

// Sharding says which ranks have the same parameters, so that they sum their
// gradients and may share what is kept for each.
type Sharding uint8

// Shardings of parameters.
const (
	// Replicated parameters are on every replica of a stage.
	Replicated Sharding = iota
	// ByExpert are on the ranks with the same experts.
	ByExpert
	NumShardings
)

// Group returns the ranks that sum the gradients.
func (s Sharding) Group() Group {
	if s == ByExpert {
		return ExpertDP
	}
	return DP
}

// Parameters returns how many trainable parameters the rank has.
func (c *Chunk) Parameters() int64 { return c.ParametersOf(Replicated) + c.ParametersOf(ByExpert) }

// ParametersOf returns how many of a sharding it has.
func (c *Chunk) ParametersOf(s Sharding) int64 {
	var n int64
	for _, w := range c.Weights[s] {
		n += w
	}
	return n
}

// Split cuts the backward into the gradient of the input and the gradients of
// the weights, each in order, for schedules that run them apart.
func (c *Chunk) Split() (input, weight []Op) {
	for _, op := range c.Backward {
		if op.Phase == BackwardWeight {
			weight = append(weight, op)
		} else {
			input = append(input, op)
		}
	}
	return input, weight
}

// Lifetimes returns, for the operators of segments run one after the other,
// the tensors to free after each operator: those whose last use it is, and that
// are not Kept.
func Lifetimes(tensors []Tensor, segments ...[]Op) [][][]TensorID {
	type place struct{ segment, op int }
	last := make([]place, len(tensors))
	for i := range last {
		last[i] = place{-1, -1}
	}
	for s, ops := range segments {
		for o := range ops {
			for _, id := range ops[o].Reads {
				last[id] = place{s, o}
			}
			for _, id := range ops[o].Writes {
				last[id] = place{s, o}
			}
		}
	}
	out := make([][][]TensorID, len(segments))
	for s, ops := range segments {
		out[s] = make([][]TensorID, len(ops))
	}
	for id, p := range last {
		if p.segment >= 0 && !tensors[id].Kept {
			out[p.segment][p.op] = append(out[p.segment][p.op], TensorID(id))
		}
	}
	return out
}
