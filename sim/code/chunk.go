package code

import (
	"slices"

	"trainsim/schedule"
	"trainsim/sim/model"
)

// Chunk is the compiled code of a run of layers. Stages with equal runs share it.
type Chunk struct {
	Split  bool // backwards may run in parts
	Model  *model.Chunk
	Blocks map[BlockKey]*Block
	Saved  []bool // by tensor: lives from forward into backward
	// The operators of a backward that runs in parts; those of a whole one and of
	// the forward are the model's.
	InputOps, WeightOps []model.Op
	// The tensors that each operator of a pass is the last to use.
	ForwardFrees, BackwardFrees, inputFrees, WeightFrees [][]model.TensorID
}

// BlockKey names a variant of a chunk's code.
type BlockKey struct {
	Op          schedule.Op
	First, Last bool // first forward and last backward of the step
	// Buckets are the numbers of the chunk's first parameter gathers on the
	// streams of the gradient groups.
	Buckets [2]int32
}

// NewChunk prepares a chunk; split says whether backwards may run in parts.
func NewChunk(m *model.Chunk, split bool) *Chunk {
	c := &Chunk{Split: split, Model: m, Blocks: make(map[BlockKey]*Block)}
	c.InputOps, c.WeightOps = m.Split()
	whole := model.Lifetimes(m.Tensors, m.Forward, m.Backward)
	c.ForwardFrees, c.BackwardFrees = whole[0], whole[1]
	if split { // schedules may run some backwards whole and others in parts
		parts := model.Lifetimes(m.Tensors, m.Forward, c.InputOps, c.WeightOps)
		c.inputFrees, c.WeightFrees = parts[1], parts[2]
	}
	c.Saved = SavedByForward(m, c.ForwardFrees)
	markRecomputed(m.Backward, c.Saved)
	c.markOperands()
	return c
}

// SavedByForward marks, by tensor, what the forward writes and does not free.
func SavedByForward(m *model.Chunk, frees [][]model.TensorID) []bool {
	saved := make([]bool, len(m.Tensors))
	for i := range m.Forward {
		for _, id := range m.Forward[i].Writes {
			saved[id] = true
		}
	}
	for _, ids := range frees {
		for _, id := range ids {
			saved[id] = false
		}
	}
	return saved
}

// markRecomputed marks what recomputation writes for the backward to read.
func markRecomputed(ops []model.Op, saved []bool) {
	again := make([]bool, len(saved))
	for i := range ops {
		for _, id := range ops[i].Writes {
			again[id] = again[id] || ops[i].Phase == model.Recompute
		}
		for _, id := range ops[i].Reads {
			saved[id] = saved[id] || again[id] && ops[i].Phase != model.Recompute
		}
	}
}

// markOperands marks, as activations, what the input's gradient writes for the
// weights' gradient to read in an action of its own.
func (c *Chunk) markOperands() {
	written := make([]bool, len(c.Saved))
	for i := range c.InputOps {
		for _, id := range c.InputOps[i].Writes {
			written[id] = true
		}
	}
	for _, ids := range c.WeightFrees {
		for _, id := range ids {
			c.Saved[id] = c.Saved[id] || written[id]
		}
	}
}

// Ops returns the operators that an operation of the schedule runs, and what each
// of them frees.
func (c *Chunk) Ops(op schedule.Op) ([]model.Op, [][]model.TensorID) {
	switch op {
	case schedule.Forward:
		return c.Model.Forward, c.ForwardFrees
	case schedule.BackwardInput:
		return c.InputOps, c.inputFrees
	case schedule.BackwardWeight:
		return c.WeightOps, c.WeightFrees
	}
	return c.Model.Backward, c.BackwardFrees
}

// Parameters lists the elements of the chunk's parameter tensors, experts last.
func (c *Chunk) Parameters() []int64 {
	return slices.Concat(c.Model.Weights[:]...)
}

// Drop forgets the operators, which compiled code does not need.
func (c *Chunk) Drop() {
	small := *c.Model
	small.Forward, small.Backward = nil, nil
	c.Model, c.InputOps, c.WeightOps = &small, nil, nil
	c.ForwardFrees, c.BackwardFrees, c.inputFrees, c.WeightFrees = nil, nil, nil, nil
}
