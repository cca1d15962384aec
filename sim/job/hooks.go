package job

import (
	"trainsim/schedule"
	"trainsim/sim/code"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// actionKinds maps the schedule's operations to what figures show.
var actionKinds = map[schedule.Op]trace.Kind{
	schedule.Forward: trace.Forward, schedule.Backward: trace.Backward,
	schedule.BackwardInput: trace.BackwardInput, schedule.BackwardWeight: trace.BackwardWeight,
}

// blockFor compiles (once) the code of an operation on a chunk. buckets are the
// numbers, on the data-parallel streams, of the chunk's first parameter gathers.
func (j *Job) blockFor(chunk *code.Chunk, key code.BlockKey) *code.Block {
	if b, ok := chunk.Blocks[key]; ok {
		return b
	}
	ops, frees := chunk.Ops(key.Op)
	e := j.Compiler.Emitter(actionKinds[key.Op])
	e.Ops(ops, frees, j.hooks(chunk, key))
	if key.Op != schedule.BackwardWeight {
		e.SyncAction()
	}
	b := &e.Block
	chunk.Blocks[key] = b
	return b
}

func (j *Job) hooks(chunk *code.Chunk, key code.BlockKey) code.Hooks {
	if j.DP.sharded() {
		return j.shardedHooks(chunk, key)
	}
	var h code.Hooks
	for i, d := range j.GradientGroups() {
		if d.Ranks == 1 {
			continue
		}
		if key.First && d.overlapGet && key.Op == schedule.Forward {
			h.Params = append(h.Params, d.gatherHook(chunk, key.Buckets[i]))
		}
		if key.Last && d.overlapGrad {
			h.Grads = append(h.Grads, d.gradHook(chunk))
		}
	}
	return h
}

// gatherHook waits for the gather that brings a unit's parameters; first is the
// number, on its stream, of the chunk's first.
func (d *GradientGroup) gatherHook(chunk *code.Chunk, first int32) code.Hook {
	_, of := d.buckets(d.Units(chunk.Model))
	return func(e *code.Emitter, op *model.Op) {
		if op.Phase == model.Forward && d.elements(op) > 0 {
			e.WaitCollective("wait_params", d.group, first+of[op.Unit])
		}
	}
}

// gradHook starts a gradient collective whenever a bucket is full; the last
// unit of the chunk to finish flushes what remains.
func (d *GradientGroup) gradHook(chunk *code.Chunk) code.Hook {
	var left int64
	for _, n := range d.Units(chunk.Model) {
		left += n
	}
	var ready int64
	return func(e *code.Emitter, op *model.Op) {
		ready += d.elements(op)
		left -= d.elements(op)
		if ready >= d.bucket || (left <= 0 && ready > 0) {
			average(e, d, ready)
			e.QueueCollective("grad_reduce", d.gradComm(ready))
			ready = 0
		}
	}
}
