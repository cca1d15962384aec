package account

import (
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// flight is how many micro-batches of a chunk hold activations at the moment at
// which those of all chunks of a rank take the most: whole ones are between
// forward and backward, of late ones the weights' gradients are still to come.
type flight struct{ whole, late int64 }

// flights finds that moment in a stage's script.
func flights(s *job.Stage) []flight {
	whole, late := make([]int64, len(s.Chunks)), make([]int64, len(s.Chunks))
	for c, cc := range s.Chunks {
		layers, ends := keptByLayer(cc)
		whole[c], late[c] = ends, lateBytes(cc)
		for _, l := range layers {
			whole[c] += l.bytes
		}
	}
	now, peak := make([]flight, len(s.Chunks)), make([]flight, len(s.Chunks))
	var most int64
	for i := range s.Script {
		for _, p := range s.Script[i].List() {
			if p.Microbatch < 0 {
				continue
			}
			now[p.Chunk].step(p.Kind)
			var sum int64
			for c := range now {
				sum += now[c].whole*whole[c] + now[c].late*late[c]
			}
			if sum > most {
				most = sum
				copy(peak, now)
			}
		}
	}
	return peak
}

// step counts an action of the chunk.
func (f *flight) step(kind trace.Kind) {
	switch kind {
	case trace.Forward:
		f.whole++
	case trace.Backward:
		f.whole--
	case trace.BackwardInput:
		f.whole, f.late = f.whole-1, f.late+1
	case trace.BackwardWeight:
		f.late--
	}
}

// lateBytes is what the gradients of a chunk's weights need when that of its
// input is done.
func lateBytes(cc *code.Chunk) (sum int64) {
	for _, ids := range cc.WeightTensors {
		for _, id := range ids {
			if t := &cc.Chunk.Tensors[id]; cc.Saved[id] && !t.Weights {
				sum += t.Bytes
			}
		}
	}
	return sum
}
