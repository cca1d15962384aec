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
	group       model.Group // DP, or ExpertDP for what experts have of their own
	ranks       int64       // of a data-parallel group, context parallel folded in
	copies      bool        // other groups hold the same: hybrid FSDP
	zero        int
	gradBytes   int64 // a parameter's gradient on the wire
	paramBytes  int64 // a parameter in memory
	wireBytes   int64 // and on the wire
	overlapGrad bool
	overlapGet  bool
	bucket      int64 // elements of one overlapped collective
}

func (c *Config) dataParallel(s *model.Spec) dataParallel {
	d := dataParallel{
		group: model.DP, ranks: c.shards(), copies: c.hybrid(), zero: c.Parallel.ZeRO,
		gradBytes: s.GradDtype.Bytes(), paramBytes: parameterBytes(s),
		overlapGrad: c.Parallel.OverlapGradReduce, overlapGet: c.Parallel.OverlapParamGather && c.Parallel.ZeRO == 1,
	}
	if d.wireBytes = d.paramBytes; s.FP8Weights {
		d.wireBytes = 1 // embedding, head and norms, which stay in 16 bits, are counted alike
	}
	d.setBucket(int64(c.Parallel.GradBucket))
	return d
}

// setBucket sets the bucket from bytes, 0 for Megatron-LM's rule: at least 40
// million parameters a bucket, and a million for each replica, so that each
// one's shard stays large.
func (d *dataParallel) setBucket(bytes int64) {
	d.bucket = bytes / d.gradBytes
	if d.bucket == 0 {
		d.bucket = max(40_000_000, 1_000_000*d.ranks)
	}
}

// ofExperts is the same for the parameters of experts that other ranks share
// than the rest of the model.
func (d dataParallel) ofExperts(c *Config) dataParallel {
	d.group, d.ranks = model.ExpertDP, int64(c.Parallel.expertReplicas())
	d.setBucket(int64(c.Parallel.GradBucket))
	return d
}

// elements returns the parameters of an operator's unit that are the group's.
func (d *dataParallel) elements(op *model.Op) int64 {
	if d.group == model.ExpertDP {
		return op.Experts
	}
	return op.Elements
}

// parameters returns those of a chunk.
func (d *dataParallel) parameters(chunk *model.Chunk) int64 {
	if d.group == model.ExpertDP {
		return chunk.ExpertParameters
	}
	return chunk.Parameters - chunk.ExpertParameters
}

// weights returns the elements of their tensors.
func (d *dataParallel) weights(chunk *model.Chunk) []int64 {
	if d.group == model.ExpertDP {
		return chunk.ExpertWeights
	}
	return chunk.Weights
}

// owned returns of how many of a stage's parameters a rank has the optimizer's
// states.
func (d *dataParallel) owned(parameters int64) int64 {
	if d.zero == 0 {
		return parameters
	}
	return (parameters + d.ranks - 1) / d.ranks
}

// expertsApart reports whether experts share their gradients over other ranks
// than the rest of the model.
func (j *Job) expertsApart() bool {
	return j.spec.Experts > 0 && (j.spec.EP > 1 || j.spec.ExpertTP != j.spec.TP)
}

// replicas lists the groups over which a stage's parameters are replicated.
func (j *Job) replicas() []*dataParallel {
	if j.expertsApart() {
		return []*dataParallel{&j.dp, &j.expertDP}
	}
	return []*dataParallel{&j.dp}
}

// parameterBytes is the size of a model parameter in memory. One in FP8 is there
// by rows and by columns.
func parameterBytes(s *model.Spec) int64 {
	if s.Precision == gpu.FP8 {
		return 2
	}
	return s.Precision.Bytes()
}

// gradComm is the collective that sums elements' gradients over the replicas.
func (d *dataParallel) gradComm(elements int64) model.Comm {
	c := model.Comm{Group: d.group, Collective: model.AllReduce, Bytes: elements * d.gradBytes}
	if d.zero >= 1 {
		c.Collective = model.ReduceScatter
	}
	return c
}

func (d *dataParallel) paramComm(elements int64) model.Comm {
	return model.Comm{Group: d.group, Collective: model.AllGather, Bytes: elements * d.wireBytes}
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
func (d *dataParallel) units(chunk *model.Chunk) []int64 {
	out := make([]int64, chunk.Layers+2)
	for i := range chunk.Forward {
		if op := &chunk.Forward[i]; op.Kind == model.ParamsNeeded && op.Phase == model.Forward {
			out[op.Unit] = d.elements(op)
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

// blockFor compiles (once) the code of an operation on a chunk. buckets are the
// numbers, on the data-parallel streams, of the chunk's first parameter gathers.
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
	if j.dp.sharded() {
		return j.shardedHooks(cc, key)
	}
	var h hooks
	for i, d := range j.replicas() {
		if d.ranks == 1 {
			continue
		}
		if key.first && d.overlapGet && key.op == schedule.Forward {
			h.params = append(h.params, d.gatherHook(cc, key.buckets[i]))
		}
		if key.last && d.overlapGrad {
			h.grads = append(h.grads, d.gradHook(cc))
		}
	}
	return h
}

// gatherHook waits for the gather that brings a unit's parameters; first is the
// number, on its stream, of the chunk's first.
func (d *dataParallel) gatherHook(cc *chunkCode, first int32) hook {
	_, of := d.buckets(d.units(cc.chunk))
	return func(e *emitter, op *model.Op) {
		if op.Phase == model.Forward && d.elements(op) > 0 {
			e.add(instr{kind: doIndex, group: d.group, index: first + of[op.Unit], what: trace.CommDP, name: e.name("wait_params")})
		}
	}
}

// gradHook starts a gradient collective whenever a bucket is full; the last
// unit of the chunk to finish flushes what remains.
func (d *dataParallel) gradHook(cc *chunkCode) hook {
	var left int64
	for _, n := range d.units(cc.chunk) {
		left += n
	}
	var ready int64
	return func(e *emitter, op *model.Op) {
		ready += d.elements(op)
		left -= d.elements(op)
		if ready >= d.bucket || (left <= 0 && ready > 0) {
			e.average(d, ready)
			e.queue("grad_reduce", d.gradComm(ready))
			ready = 0
		}
	}
}
