package code

import (
	"slices"

	"trainsim/schedule"
	"trainsim/sim/model"
)

// Chunk is the compiled code of a run of layers. Stages with equal runs share it.
type Chunk struct {
	Split           bool // backwards may run in parts
	Chunk           *model.Chunk
	Blocks          map[BlockKey]*Block
	Saved           []bool // by tensor: lives from forward into backward
	ForwardTensors  [][]model.TensorID
	BackwardTensors [][]model.TensorID
	inputTensors    [][]model.TensorID
	WeightTensors   [][]model.TensorID
	Input, Weight   []model.Op
}

// BlockKey names a variant of a chunk's code.
type BlockKey struct {
	Op          schedule.Op
	First, Last bool // first forward and last backward of the step
	Buckets     [2]int32
}

// Weights lists the elements of the chunk's parameter tensors, experts last.
func (cc *Chunk) Weights() []int64 {
	return slices.Concat(cc.Chunk.Weights[:]...)
}

// NewChunkCode prepares a chunk; split says whether backwards may run in parts.
func NewChunkCode(chunk *model.Chunk, split bool) *Chunk {
	cc := &Chunk{Split: split, Chunk: chunk, Blocks: make(map[BlockKey]*Block)}
	cc.Input, cc.Weight = chunk.Split()
	fused := model.Lifetimes(chunk.Tensors, chunk.Forward, chunk.Backward)
	cc.ForwardTensors, cc.BackwardTensors = fused[0], fused[1]
	if split { // schedules may run some backwards whole and others in parts
		t := model.Lifetimes(chunk.Tensors, chunk.Forward, cc.Input, cc.Weight)
		cc.inputTensors, cc.WeightTensors = t[1], t[2]
	}
	cc.Saved = savedTensors(chunk, cc.ForwardTensors)
	cc.markOperands()
	return cc
}

// markOperands marks, as activations, what the input's gradient writes for the
// weights' gradient to read in an action of its own.
func (cc *Chunk) markOperands() {
	written := make([]bool, len(cc.Saved))
	for i := range cc.Input {
		for _, id := range cc.Input[i].Writes {
			written[id] = true
		}
	}
	for _, ids := range cc.WeightTensors {
		for _, id := range ids {
			cc.Saved[id] = cc.Saved[id] || written[id]
		}
	}
}

// savedTensors marks the activations: what the forward, or its recomputation,
// writes for the backward.
func savedTensors(chunk *model.Chunk, freed [][]model.TensorID) []bool {
	saved := LeftBehind(chunk, freed)
	markRecomputed(chunk.Backward, saved)
	return saved
}

// LeftBehind marks what the forward writes and does not free.
func LeftBehind(chunk *model.Chunk, freed [][]model.TensorID) []bool {
	saved := make([]bool, len(chunk.Tensors))
	for i := range chunk.Forward {
		for _, id := range chunk.Forward[i].Writes {
			saved[id] = true
		}
	}
	for _, ids := range freed {
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

// Source returns the operators and frees that an operation runs.
func (cc *Chunk) Source(op schedule.Op) ([]model.Op, [][]model.TensorID) {
	switch op {
	case schedule.Forward:
		return cc.Chunk.Forward, cc.ForwardTensors
	case schedule.BackwardInput:
		return cc.Input, cc.inputTensors
	case schedule.BackwardWeight:
		return cc.Weight, cc.WeightTensors
	}
	return cc.Chunk.Backward, cc.BackwardTensors
}

// Drop forgets what compiled code does not need.
func (cc *Chunk) Drop() {
	small := *cc.Chunk
	small.Forward, small.Backward = nil, nil
	cc.Chunk, cc.Input, cc.Weight = &small, nil, nil
	cc.ForwardTensors, cc.BackwardTensors, cc.inputTensors, cc.WeightTensors = nil, nil, nil, nil
}
