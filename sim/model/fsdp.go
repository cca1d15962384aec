package model

import "trainsim/sim/gpu"

// sharded is what FSDP allocates beside the shards: the gathered parameters of
// the units at work and their unsharded gradients.
type sharded struct {
	forward, backward []TensorID // gathered parameters, by unit
	grads             []TensorID // weight gradients of the unit under way
	flat              []TensorID // the unit before's, on their way to the shards
}

// declareUnits declares the buffers of a chunk's units. Embedding and head
// belong to the root unit, whose parameters stay gathered from the forward to
// the end of the backward; those of ZeRO-2 all do.
func (b *Builder) declareUnits(layers int) {
	if !b.GatherParams {
		return
	}
	s := &b.sharded
	gathered := func() TensorID {
		id := b.Tensor("gathered_params", 0, 1, b.element()).ID
		b.chunk.Tensors[id].Weights = true
		return id
	}
	for unit := range layers + 2 {
		id := gathered()
		s.forward, s.backward = append(s.forward, id), append(s.backward, id)
		if b.ReshardAfterForward && unit > 0 && unit <= layers {
			s.backward[unit] = gathered()
		}
	}
}

// gatheredFrom returns the buffers that the start of a unit allocates: its own and,
// since the next unit's gather starts with it, that one's.
func (b *Builder) gatheredFrom(unit int32, phase Phase) []TensorID {
	if !b.GatherParams {
		return nil
	}
	list, next := b.sharded.forward, unit+1
	if phase != Forward {
		list, next = b.sharded.backward, unit-1
	}
	if next < 0 || int(next) >= len(list) || b.GatherLate && phase != Forward {
		return []TensorID{list[unit]}
	}
	return []TensorID{list[unit], list[next]}
}

// sizeUnit sets the sizes of a unit's buffers once its parameters are known.
func (b *Builder) sizeUnit(unit int32, bytes int64) {
	if b.GatherParams {
		for _, id := range []TensorID{b.sharded.forward[unit], b.sharded.backward[unit]} {
			b.chunk.Tensors[id].Bytes = bytes
		}
	}
}

// release marks the end of a unit's forward, behind which its gathered
// parameters may go.
func (b *Builder) release(unit int32) {
	if b.GatherParams {
		reads := []TensorID{b.sharded.forward[unit]}
		b.append(Op{Name: "release", Kind: Release, Phase: b.phase, Unit: unit, Reads: reads})
	}
}

// keepGrad holds a weight gradient until its unit is complete.
func (b *Builder) keepGrad(ids []TensorID) []TensorID {
	if b.GatherParams {
		b.sharded.grads = append(b.sharded.grads, ids...)
	}
	return ids
}

// collectGrads is the end of a unit's backward: its gradients are copied into
// one flat tensor, cast to the format of the reduction where that differs, and
// scattered; the one of the unit before is free by now.
func (b *Builder) collectGrads(unit int32, op *Op) {
	if !b.GatherParams {
		return
	}
	s := &b.sharded
	op.Reads = append(append([]TensorID{s.backward[unit], s.forward[0]}, s.grads...), s.flat...)
	n := op.Elements[Replicated]
	s.grads, s.flat = nil, ids(b.Tensor("unsharded_grads", n, 1, b.element()))
	if b.GradDtype.Bytes() != b.element() {
		s.flat = append(s.flat, b.Tensor("unsharded_grads.cast", n, 1, b.GradDtype.Bytes()).ID)
	}
	op.Writes = s.flat
	b.flattenGrads(op)
}

// flattenGrads emits the passes over a unit's gradients before they leave:
// the copy into one tensor, the cast, and the division that keeps the sum over
// the replicas in range (PyTorch's gradient_predivide_factor).
func (b *Builder) flattenGrads(op *Op) {
	elements := op.Elements[Replicated]
	n, wire := elements*b.element(), elements*b.GradDtype.Bytes()
	b.memory("flatten_grads", BackwardWeight, gpu.Copy, n, n, op.Reads, op.Writes)
	if wire != n {
		b.memory("cast_grads", BackwardWeight, gpu.Copy, n, wire, op.Writes, nil)
	}
	b.memory("divide_grads", BackwardWeight, gpu.Elementwise, wire, wire, op.Writes, nil)
}
