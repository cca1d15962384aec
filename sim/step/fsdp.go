package step

import (
	"trainsim/schedule"
	"trainsim/sim/model"
)

// shardedHooks gathers the parameters of a unit before it is used, one unit
// ahead, and scatters its gradients behind its backward, as FSDP does in every
// micro-batch; in a pipeline in the first forward and the last backward alone.
func (j *Job) shardedHooks(cc *chunkCode, key blockKey) hooks {
	d := &j.dp
	switch once := j.Config.gathersOnce(); {
	case once && key.op == schedule.Forward && !key.first, once && key.op != schedule.Forward && !key.last:
		return hooks{}
	case once && key.op != schedule.Forward, key.op == schedule.BackwardWeight:
		return hooks{grads: []hook{d.scatterHook(cc.chunk)}}
	}
	backward := key.op != schedule.Forward
	// PyTorch's BACKWARD_POST gathers behind the scatter before, on the same
	// stream, so that both are over when the unit begins.
	late := backward && j.Config.Parallel.BackwardPrefetch == "post"
	order := gatherOrder(cc.chunk, backward)
	if backward && d.zero == 2 {
		return hooks{grads: []hook{d.scatterHook(cc.chunk)}}
	}
	sizes := d.gathers(cc.chunk)
	next := 0
	gathered := make([]bool, len(sizes))
	start := func(e *emitter) {
		if next < len(order) {
			unit := order[next]
			next++
			c := model.Comm{Group: model.DP, Collective: model.AllGather, Bytes: sizes[unit]}
			e.communicate("param_gather", c, true, -1-unit)
		}
	}
	params := func(e *emitter, op *model.Op) {
		if gathered[op.Unit] || sizes[op.Unit] == 0 {
			return
		}
		if next == 0 || late {
			start(e)
		}
		if !late {
			start(e) // prefetch the unit behind this one
		}
		gathered[op.Unit] = true
		slot := e.open[-1-op.Unit]
		delete(e.open, -1-op.Unit)
		e.used[slot] = false
		e.add(instr{kind: doJoin, slot: slot, name: e.name("wait_params")})
	}
	h := hooks{params: []hook{params}}
	if key.op == schedule.Backward {
		h.grads = []hook{d.scatterHook(cc.chunk)}
	}
	return h
}

// scatterHook reduces the gradients of each unit as soon as they are complete.
// Where other ranks hold copies of a shard, its sum goes on to them behind the
// next unit's, by when it is there.
func (d *dataParallel) scatterHook(chunk *model.Chunk) hook {
	var summed int64
	order := gatherOrder(chunk, true)
	return func(e *emitter, op *model.Op) {
		if op.Elements == 0 {
			return
		}
		e.queue("grad_scatter", d.gradComm(op.Elements))
		if !d.copies {
			return
		}
		if summed > 0 {
			e.queue("shard_reduce", d.copiesComm(summed))
		}
		if summed = op.Elements; op.Unit == order[len(order)-1] {
			e.queue("shard_reduce", d.copiesComm(summed))
			summed = 0
		}
	}
}

// copiesComm is the collective that sums a shard of the gradients of elements
// over the ranks that hold it.
func (d *dataParallel) copiesComm(elements int64) model.Comm {
	n := (elements + d.ranks - 1) / d.ranks
	return model.Comm{Group: model.Copies, Collective: model.AllReduce, Bytes: n * d.gradBytes}
}

// gatherOrder lists the units with parameters in the order of first use.
func gatherOrder(chunk *model.Chunk, backward bool) []int32 {
	ops := chunk.Forward
	if backward {
		ops = chunk.Backward
	}
	seen := make([]bool, chunk.Layers+2)
	var out []int32
	for i := range ops {
		op := &ops[i]
		if op.Kind == model.ParamsNeeded && !seen[op.Unit] && op.Elements+op.Frozen > 0 {
			seen[op.Unit] = true
			out = append(out, op.Unit)
		}
	}
	return out
}
