package step

import "trainsim/sim/model"

// mostGathered returns the most bytes of parameters that a chunk holds gathered
// for its backward at one time, and of how many units: those that stay from the
// forward on, and those that a recomputation gathers again, which come and go.
func mostGathered(cc *chunkCode) (bytes, units int64) {
	g := gatheredSet{chunk: cc, live: make(map[model.TensorID]bool)}
	g.pass(cc.chunk.Forward, cc.forwardTensors)
	g.pass(cc.chunk.Backward, cc.backwardTensors)
	return g.most, g.atMost
}

// gatheredSet is what is gathered at a point of a chunk's code.
type gatheredSet struct {
	chunk               *chunkCode
	live                map[model.TensorID]bool
	bytes, most, atMost int64
}

// pass walks through code; freed are the tensors that each operator is the last
// to use.
func (g *gatheredSet) pass(ops []model.Op, freed [][]model.TensorID) {
	for i := range ops {
		for _, id := range ops[i].Writes {
			if t := &g.chunk.chunk.Tensors[id]; t.Weights && !t.Kept && g.chunk.saved[id] && !g.live[id] {
				g.live[id] = true
				g.bytes += t.Bytes
			}
		}
		if g.bytes > g.most {
			g.most, g.atMost = g.bytes, int64(len(g.live))
		}
		for _, id := range freed[i] {
			if g.live[id] {
				delete(g.live, id)
				g.bytes -= g.chunk.chunk.Tensors[id].Bytes
			}
		}
	}
}
