package job

import (
	"slices"

	"trainsim/sim/model"
)

// GradientGroup says how the replicas of a stage exchange gradients and
// parameters.
type GradientGroup struct {
	Sharding    model.Sharding
	group       model.Group
	Ranks       int64 // of a data-parallel group, context parallel folded in
	copies      bool  // other groups hold the same: hybrid FSDP
	Zero        int
	gradBytes   int64 // a parameter's gradient on the wire
	paramBytes  int64 // a parameter in memory
	wireBytes   int64 // and on the wire
	overlapGrad bool
	overlapGet  bool
	bucket      int64 // elements of one overlapped collective
}

// GradientGroup returns how replicas exchange what is not an expert's of its own.
func (c *Config) GradientGroup(s *model.Spec) GradientGroup {
	d := GradientGroup{
		group: model.Replicated.Group(), Ranks: c.Shards(), copies: c.hybrid(), Zero: c.Parallel.ZeRO,
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
func (d *GradientGroup) setBucket(bytes int64) {
	d.bucket = bytes / d.gradBytes
	if d.bucket == 0 {
		d.bucket = max(40_000_000, 1_000_000*d.Ranks)
	}
}

// OfExperts is the same for the parameters of experts that other ranks share
// than the rest of the model.
func (d GradientGroup) OfExperts(c *Config) GradientGroup {
	d.Sharding, d.group, d.Ranks = model.ByExpert, model.ByExpert.Group(), int64(c.Parallel.expertReplicas())
	d.setBucket(int64(c.Parallel.GradBucket))
	return d
}

// elements returns the parameters of an operator's unit that are the group's.
func (d *GradientGroup) elements(op *model.Op) int64 {
	return op.Elements[d.Sharding]
}

// Parameters returns those of a chunk.
func (d *GradientGroup) Parameters(chunk *model.Chunk) int64 {
	return chunk.ParametersOf(d.Sharding)
}

// Weights returns the elements of their tensors.
func (d *GradientGroup) Weights(chunk *model.Chunk) []int64 {
	return chunk.Weights[d.Sharding]
}

// Owned returns of how many of a stage's parameters a rank has the optimizer's
// states.
func (d *GradientGroup) Owned(parameters int64) int64 {
	if d.Zero == 0 {
		return parameters
	}
	return (parameters + d.Ranks - 1) / d.Ranks
}

// GradientGroups lists the groups over which a stage's parameters are replicated.
func (j *Job) GradientGroups() []*GradientGroup {
	if slices.Contains(j.Spec.Shardings(), model.ByExpert) {
		return []*GradientGroup{&j.DP, &j.expertDP}
	}
	return []*GradientGroup{&j.DP}
}

// gradComm is the collective that sums elements' gradients over the replicas.
func (d *GradientGroup) gradComm(elements int64) model.Comm {
	c := model.Comm{Group: d.group, Collective: model.AllReduce, Bytes: elements * d.gradBytes}
	if d.Zero >= 1 {
		c.Collective = model.ReduceScatter
	}
	return c
}

func (d *GradientGroup) paramComm(elements int64) model.Comm {
	return model.Comm{Group: d.group, Collective: model.AllGather, Bytes: elements * d.wireBytes}
}

// sharded reports whether every unit gathers its parameters before use (FSDP).
func (d *GradientGroup) sharded() bool { return d.Zero >= 2 && d.Ranks > 1 }

// buckets groups the units of a chunk's parameters, in order, into collectives
// of at least bucket elements; the rest is one more.
func (d *GradientGroup) buckets(units []int64) (sizes []int64, of []int32) {
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

// Units returns the parameters of the chunk's units, in forward order.
func (d *GradientGroup) Units(chunk *model.Chunk) []int64 {
	out := make([]int64, chunk.Run.Layers+2)
	for i := range chunk.Forward {
		if op := &chunk.Forward[i]; op.Kind == model.ParamsNeeded && op.Phase == model.Forward {
			out[op.Unit] = d.elements(op)
		}
	}
	return out
}

// Gathers returns the bytes that gathering each unit's parameters takes, frozen
// ones included.
func (d *GradientGroup) Gathers(chunk *model.Chunk) []int64 {
	out := make([]int64, chunk.Run.Layers+2)
	for i := range chunk.Forward {
		if op := &chunk.Forward[i]; op.Kind == model.ParamsNeeded && op.Phase == model.Forward {
			out[op.Unit] = d.elements(op)*d.paramBytes + op.Frozen
		}
	}
	return out
}

// Parameters returns how many of a group's parameters each chunk has that has
// any.
func (s *Stage) Parameters(d *GradientGroup) (out []int64) {
	for _, chunk := range s.Chunks {
		if n := d.Parameters(chunk.Model); n > 0 {
			out = append(out, n)
		}
	}
	return out
}
