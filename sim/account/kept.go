package account

import (
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// keptLayer is what one layer keeps from the forward to the backward.
type keptLayer struct {
	number  int32 // in the chunk
	bytes   int64
	tensors []*model.Tensor
}

// keptByLayer sorts a chunk's activations by layer, in order, and sums those of
// no layer.
func keptByLayer(chunk *code.Chunk) (layers []keptLayer, ends int64) {
	for id := range chunk.Model.Tensors {
		t := &chunk.Model.Tensors[id]
		if t.Bytes == 0 || t.Weights || !chunk.Saved[id] || !writtenIn(chunk.Model.Forward, model.TensorID(id)) {
			continue
		}
		if t.Layer == 0 {
			ends += t.Bytes
			continue
		}
		if len(layers) == 0 || layers[len(layers)-1].number != t.Layer {
			layers = append(layers, keptLayer{number: t.Layer})
		}
		l := &layers[len(layers)-1]
		l.bytes += t.Bytes
		l.tensors = append(l.tensors, t)
	}
	return layers, ends
}

func writtenIn(ops []model.Op, id model.TensorID) bool {
	for i := range ops {
		for _, w := range ops[i].Writes {
			if w == id {
				return true
			}
		}
	}
	return false
}

// awaitingBytes is what the gradients of a chunk's weights need when that of its
// input is done.
func awaitingBytes(chunk *code.Chunk) (sum int64) {
	for _, ids := range chunk.WeightFrees {
		for _, id := range ids {
			if t := &chunk.Model.Tensors[id]; chunk.Saved[id] && !t.Weights {
				sum += t.Bytes
			}
		}
	}
	return sum
}
