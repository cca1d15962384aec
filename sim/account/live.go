package account

import (
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// mostGathered returns the most bytes of parameters that a chunk holds gathered
// for its backward at one time, and of how many units: those that stay from the
// forward on, and those that a recomputation gathers again, which come and go.
func mostGathered(chunk *code.Chunk) (bytes, units int64) {
	s := newLiveTensors(chunk, func(id model.TensorID) bool {
		t := &chunk.Model.Tensors[id]
		return t.Weights && !t.Kept && chunk.Saved[id]
	})
	s.pass(chunk.Model.Forward, chunk.ForwardFrees)
	s.pass(chunk.Model.Backward, chunk.BackwardFrees)
	return s.most, s.atMost
}

// liveTensors is what a chunk holds, of the tensors that count, at a point of its
// code.
type liveTensors struct {
	chunk               *model.Chunk
	counts              func(model.TensorID) bool
	live                map[model.TensorID]bool
	bytes, most, atMost int64
}

func newLiveTensors(chunk *code.Chunk, counts func(model.TensorID) bool) *liveTensors {
	return &liveTensors{chunk: chunk.Model, counts: counts, live: make(map[model.TensorID]bool)}
}

// pass walks through code; freed are the tensors that each operator is the last
// to use.
func (s *liveTensors) pass(ops []model.Op, freed [][]model.TensorID) {
	for i := range ops {
		for _, id := range ops[i].Writes {
			if s.counts(id) && !s.live[id] {
				s.live[id] = true
				s.bytes += s.chunk.Tensors[id].Bytes
			}
		}
		if s.bytes > s.most {
			s.most, s.atMost = s.bytes, int64(len(s.live))
		}
		for _, id := range freed[i] {
			if s.live[id] {
				delete(s.live, id)
				s.bytes -= s.chunk.Tensors[id].Bytes
			}
		}
	}
}
