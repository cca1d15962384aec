package step

import (
	"trainsim/schedule"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// dataParallel says how the replicas of a stage exchange gradients and
// parameters.
type dataParallel struct {
	ranks       int64 // of a data-parallel group, context parallel folded in
	zero        int
	gradBytes   int64 // a parameter's gradient on the wire
	paramBytes  int64
	overlapGrad bool
	overlapGet  bool
	bucket      int64 // elements of one overlapped collective
}

func (c *Config) dataParallel(s *model.Spec) dataParallel {
	d := dataParallel{
		ranks: int64(c.Parallel.DP * c.Parallel.CP), zero: c.Parallel.ZeRO,
		gradBytes: s.GradDtype.Bytes(), paramBytes: parameterBytes(s),
		overlapGrad: c.Parallel.OverlapGradReduce, overlapGet: c.Parallel.OverlapParamGather && c.Parallel.ZeRO == 1,
	}
	d.bucket = int64(c.Parallel.GradBucket) / d.gradBytes
	if d.bucket == 0 {
		// Megatron-LM's rule: at least 40 million parameters a bucket, and a
		// million for each replica, so that each one's shard stays large.
		d.bucket = max(40_000_000, 1_000_000*d.ranks)
	}
	return d
}

// parameterBytes is the size of a model parameter in memory and on the wire.
func parameterBytes(s *model.Spec) int64 {
	if s.Precision == gpu.FP8 {
		return 2
	}
	return s.Precision.Bytes()
}

// gradComm is the collective that sums elements' gradients over the replicas.
func (d *dataParallel) gradComm(elements int64) model.Comm {
	c := model.Comm{Group: model.DP, Collective: model.AllReduce, Bytes: elements * d.gradBytes}
	if d.zero >= 1 {
		c.Collective = model.ReduceScatter
	}
	return c
}

func (d *dataParallel) paramComm(elements int64) model.Comm {
	return model.Comm{Group: model.DP, Collective: model.AllGather, Bytes: elements * d.paramBytes}
}

// sharded reports whether every unit gathers its parameters before use (FSDP).
func (d *dataParallel) sharded() bool { return d.zero >= 2 && d.ranks > 1 }

// buckets groups the units of a chunk's parameters, in order, into collectives
// of at least bucket elements; the rest is one more.
func (d *dataParallel) buckets(units []int64) (sizes []int64, of []int32) {
	var sum int64
	of = make([]int32, len(units))
	for i, n := range units {
		sum += n
		of[i] = int32(len(sizes))
		if sum >= d.bucket {
			sizes, sum = append(sizes, sum), 0
		}
	}
	if sum > 0 {
		sizes = append(sizes, sum)
	}
	return sizes, of
}

// units returns the parameters of the chunk's units, in forward order.
func units(chunk *model.Chunk) []int64 {
	out := make([]int64, chunk.Layers+2)
	for i := range chunk.Forward {
		if op := &chunk.Forward[i]; op.Kind == model.ParamsNeeded && op.Phase == model.Forward {
			out[op.Unit] = op.Elements
		}
	}
	return out
}

// gathers returns the bytes that gathering each unit's parameters takes, frozen
// ones included.
func (d *dataParallel) gathers(chunk *model.Chunk) []int64 {
	out := make([]int64, chunk.Layers+2)
	for i := range chunk.Forward {
		if op := &chunk.Forward[i]; op.Kind == model.ParamsNeeded && op.Phase == model.Forward {
			out[op.Unit] = op.Elements*d.paramBytes + op.Frozen
		}
	}
	return out
}

// blockFor compiles (once) the code of an operation on a chunk. bucket is the
// number, on the data-parallel stream, of the chunk's first parameter gather.
func (j *Job) blockFor(cc *chunkCode, key blockKey) *block {
	if b, ok := cc.blocks[key]; ok {
		return b
	}
	ops, frees := cc.source(key.op)
	e := j.compiler.emitter(actionKinds[key.op])
	e.ops(ops, frees, j.hooks(cc, key))
	if key.op != schedule.BackwardWeight {
		e.finish()
	}
	b := &e.block
	cc.blocks[key] = b
	return b
}

func (j *Job) hooks(cc *chunkCode, key blockKey) hooks {
	d := &j.dp
	var h hooks
	switch {
	case d.sharded():
		return j.shardedHooks(cc, key)
	case d.ranks == 1:
		return h
	}
	if key.first && d.overlapGet && key.op == schedule.Forward {
		_, of := d.buckets(units(cc.chunk))
		h.params = func(e *emitter, op *model.Op) {
			if op.Phase == model.Forward && op.Elements > 0 {
				e.add(instr{kind: doIndex, group: model.DP, index: key.bucket + of[op.Unit], what: trace.CommDP, name: e.name("wait_params")})
			}
		}
	}
	if key.last && d.overlapGrad {
		h.grads = d.gradHook(cc)
	}
	return h
}

// gradHook starts a gradient collective whenever a bucket is full; the last
// unit of the chunk to finish flushes what remains.
func (d *dataParallel) gradHook(cc *chunkCode) func(*emitter, *model.Op) {
	var left int64
	for _, n := range units(cc.chunk) {
		left += n
	}
	var ready int64
	return func(e *emitter, op *model.Op) {
		ready += op.Elements
		left -= op.Elements
		if ready >= d.bucket || (left <= 0 && ready > 0) {
			e.average(d, ready)
			e.queue("grad_reduce", d.gradComm(ready))
			ready = 0
		}
	}
}

// shardedHooks gathers the parameters of a unit before it is used, one unit
// ahead, and scatters its gradients behind its backward, as FSDP does in every
// micro-batch.
func (j *Job) shardedHooks(cc *chunkCode, key blockKey) hooks {
	d := &j.dp
	if key.op == schedule.BackwardWeight {
		return hooks{grads: d.scatterHook()}
	}
	backward := key.op != schedule.Forward
	// PyTorch's BACKWARD_POST gathers behind the scatter before, on the same
	// stream, so that both are over when the unit begins.
	late := backward && j.Config.Parallel.BackwardPrefetch == "post"
	order := gatherOrder(cc.chunk, backward)
	if backward && d.zero == 2 {
		return hooks{grads: d.scatterHook()}
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
	h := hooks{params: params}
	if key.op == schedule.Backward {
		h.grads = d.scatterHook()
	}
	return h
}

// scatterHook reduces the gradients of each unit as soon as they are complete.
func (d *dataParallel) scatterHook() func(*emitter, *model.Op) {
	return func(e *emitter, op *model.Op) {
		if op.Elements > 0 {
			e.queue("grad_scatter", d.gradComm(op.Elements))
		}
	}
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
