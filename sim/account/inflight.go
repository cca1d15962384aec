package account

import (
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// inFlight is how many micro-batches of a chunk hold activations at the moment at
// which those of all chunks of a rank take the most: whole ones are between
// forward and backward, of late ones the weights' gradients are still to come.
type inFlight struct{ whole, awaitingWeights int64 }

// mostInFlight finds that moment in a stage's script.
func mostInFlight(s *job.Stage) []inFlight {
	whole, late := make([]int64, len(s.Chunks)), make([]int64, len(s.Chunks))
	for c, chunk := range s.Chunks {
		layers, ends := keptByLayer(chunk)
		whole[c], late[c] = ends, awaitingBytes(chunk)
		for _, l := range layers {
			whole[c] += l.bytes
		}
	}
	now, peak := make([]inFlight, len(s.Chunks)), make([]inFlight, len(s.Chunks))
	var most int64
	for i := range s.Script {
		for _, p := range s.Script[i].List() {
			if p.Microbatch < 0 {
				continue
			}
			now[p.Chunk].step(p.Kind)
			var sum int64
			for c := range now {
				sum += now[c].whole*whole[c] + now[c].awaitingWeights*late[c]
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
func (f *inFlight) step(kind trace.Kind) {
	switch kind {
	case trace.Forward:
		f.whole++
	case trace.Backward:
		f.whole--
	case trace.BackwardInput:
		f.whole, f.awaitingWeights = f.whole-1, f.awaitingWeights+1
	case trace.BackwardWeight:
		f.awaitingWeights--
	}
}
