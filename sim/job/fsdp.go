package job

import (
	"trainsim/schedule"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// shardedHooks gathers the parameters of a unit before it is used, one unit
// ahead, and scatters its gradients after its backward, as FSDP does in every
// micro-batch; in a pipeline in the first forward and the last backward alone.
func (j *Job) shardedHooks(chunk *code.Chunk, key code.BlockKey) code.Hooks {
	d := &j.DP
	switch once := j.Config.GathersOnce(); {
	case once && key.Op == schedule.Forward && !key.First, once && key.Op != schedule.Forward && !key.Last:
		return code.Hooks{}
	case once && key.Op != schedule.Forward, key.Op == schedule.BackwardWeight:
		return code.Hooks{Grads: []code.Hook{d.scatterHook(chunk.Model)}}
	}
	backward := key.Op != schedule.Forward
	// PyTorch's BACKWARD_POST gathers after the scatter before, on the same
	// stream, so that both are over when the unit begins.
	late := backward && j.Config.Parallel.BackwardPrefetch == "post"
	order := gatherOrder(chunk.Model, backward)
	if backward && d.Zero == 2 {
		return code.Hooks{Grads: []code.Hook{d.scatterHook(chunk.Model)}}
	}
	sizes := d.Gathers(chunk.Model)
	next := 0
	gathered := make([]bool, len(sizes))
	start := func(e *code.Emitter) {
		if next < len(order) {
			unit := order[next]
			next++
			c := model.Comm{Group: model.DP, Collective: model.AllGather, Bytes: sizes[unit]}
			e.StartCollective("param_gather", c, -1-unit)
		}
	}
	params := func(e *code.Emitter, op *model.Op) {
		if gathered[op.Unit] || sizes[op.Unit] == 0 {
			return
		}
		if next == 0 || late {
			start(e)
		}
		if !late {
			start(e) // prefetch the unit after this one
		}
		gathered[op.Unit] = true
		e.WaitToken("wait_params", -1-op.Unit)
	}
	h := code.Hooks{Params: []code.Hook{params}}
	if key.Op == schedule.Backward {
		h.Grads = []code.Hook{d.scatterHook(chunk.Model)}
	}
	return h
}

// scatterHook reduces the gradients of each unit as soon as they are complete.
// Where other ranks hold copies of a shard, its sum goes on to them after the
// next unit's, by when it is there.
func (d *GradientGroup) scatterHook(chunk *model.Chunk) code.Hook {
	var summed int64
	order := gatherOrder(chunk, true)
	return func(e *code.Emitter, op *model.Op) {
		n := d.elements(op)
		if n == 0 {
			return
		}
		e.QueueCollective("grad_scatter", d.gradComm(n))
		if !d.copies {
			return
		}
		if summed > 0 {
			e.QueueCollective("shard_reduce", d.copiesComm(summed))
		}
		if summed = n; op.Unit == order[len(order)-1] {
			e.QueueCollective("shard_reduce", d.copiesComm(summed))
			summed = 0
		}
	}
}

// copiesComm is the collective that sums a shard of the gradients of elements
// over the ranks that hold it.
func (d *GradientGroup) copiesComm(elements int64) model.Comm {
	n := (elements + d.Ranks - 1) / d.Ranks
	return model.Comm{Group: model.Copies, Collective: model.AllReduce, Bytes: n * d.gradBytes}
}

// gatherOrder lists the units with parameters in the order of first use.
func gatherOrder(chunk *model.Chunk, backward bool) []int32 {
	ops := chunk.Forward
	if backward {
		ops = chunk.Backward
	}
	seen := make([]bool, chunk.Run.Layers+2)
	var out []int32
	for i := range ops {
		op := &ops[i]
		if op.Kind == model.ParamsNeeded && !seen[op.Unit] && op.Elements[model.Replicated]+op.Frozen > 0 {
			seen[op.Unit] = true
			out = append(out, op.Unit)
		}
	}
	return out
}
