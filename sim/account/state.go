package account

import (
	"trainsim/memory"
	"trainsim/sim/code"
	"trainsim/sim/framework"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// start allocates what is there before the first step.
func (a *replay) start() {
	for _, chunk := range a.job.Stages[a.stage].Chunks {
		a.frozen(chunk)
		switch a.job.State.Layout {
		case job.ShardedStates:
			a.startSharded(chunk)
		case framework.DeepSpeedStates:
			a.startDeepSpeed(chunk)
		case framework.MegatronStates:
			a.startMegatron(chunk)
		default:
			a.startPlain(chunk)
		}
	}
	if a.job.State.Layout == framework.DeepSpeedStates {
		a.optimizerStates() // made by a step over zeros
	}
	a.workspace()
	a.loadAhead()
}

// loadAhead allocates the batches that wait on the GPU.
func (a *replay) loadAhead() {
	p := a.job.Config.Prefetched()
	for range p.Workers * p.Batches {
		a.malloc("prefetched batch", p.BatchBytes, memory.Temporaries)
	}
}

// workspace is what cuBLAS keeps on a stream, for PyTorch's own calls and once
// more for Transformer Engine's.
func (a *replay) workspace() {
	bytes := int64(a.job.Config.GPU.Generation().CublasWorkspace)
	a.malloc("cuBLAS workspace", bytes, memory.Temporaries)
	if a.job.Config.Framework.EngineWorkspace {
		a.malloc("Transformer Engine workspace", bytes, memory.Temporaries)
	}
}

// frozen allocates the weights that are not trained; FSDP shards them unit by
// unit in the format in which they are gathered.
func (a *replay) frozen(chunk *code.Chunk) {
	list, shards := chunk.Model.Frozen, int64(1)
	if a.job.State.Layout == job.ShardedStates {
		shards = a.job.Config.Shards()
		list = a.job.DP.Gathers(chunk.Model)
		for i, n := range a.job.DP.Units(chunk.Model) {
			list[i] -= n * a.job.State.ReadBytes
		}
	}
	for _, bytes := range list {
		a.malloc("frozen weights", (bytes+shards-1)/shards, memory.Weights)
	}
}

func (a *replay) startPlain(chunk *code.Chunk) {
	a.weights(chunk)
	for n := chunk.Model.Parameters() * a.job.State.GradientCopies.Bytes; n > 0; n -= ddpBucket {
		a.malloc("gradient buckets", min(n, ddpBucket), memory.Gradients)
	}
	a.masters(a.own(chunk))
}

// ddpBucket is DistributedDataParallel's default bucket_cap_mb.
const ddpBucket = 25 << 20

func (a *replay) startMegatron(chunk *code.Chunk) {
	refs, s := a.weights(chunk), &a.job.State
	for _, d := range a.job.GradientGroups() { // a pair of buffers each
		n := d.Parameters(chunk.Model)
		if d.Zero >= 1 { // the weights move
			a.malloc("weights", n*s.Weights.Bytes, memory.Weights)
		}
		a.malloc("gradients", n*s.Gradients.Bytes, memory.Gradients)
	}
	if a.job.DP.Zero >= 1 {
		a.freeAll(refs)
	}
	a.masters(a.own(chunk))
}

func (a *replay) startDeepSpeed(chunk *code.Chunk) {
	n, s := chunk.Model.Parameters(), &a.job.State
	refs := a.weights(chunk)
	if a.splitGradients() { // flattened from clones
		refs = append(refs, a.weights(chunk)...)
	}
	a.malloc("weights", n*s.Weights.Bytes, memory.Weights)
	a.freeAll(refs)
	part := a.job.DP.Owned(n)
	a.owned = append(a.owned, part)
	a.malloc("master weights", part*s.Master.Bytes, memory.Optimizer)
	if a.splitGradients() {
		a.malloc("fp32 gradients", n*s.Gradients.Bytes, memory.Gradients)
	}
}

func (a *replay) startSharded(chunk *code.Chunk) {
	for _, n := range a.job.DP.Units(chunk.Model) {
		if n > 0 {
			n = (n + a.job.Config.Shards() - 1) / a.job.Config.Shards()
			a.malloc("weight shards", n*a.job.State.Weights.Bytes, memory.Weights)
			a.owned = append(a.owned, n)
		}
	}
}

// weights allocates the chunk's parameters one by one.
func (a *replay) weights(chunk *code.Chunk) []memory.Ref {
	list := chunk.Parameters()
	out := make([]memory.Ref, len(list))
	copies := int64(1)
	if v := a.job.Program.WeightVersions; v != nil {
		copies = int64(v[a.stage]) // stashed versions
	}
	for range copies {
		for i, n := range list {
			out[i] = a.malloc("weights", n*a.job.State.Weights.Bytes, memory.Weights)
		}
	}
	return out
}

// own appends the pieces of the chunk's parameters whose optimizer states the
// rank holds: the first of equal parts of what each group of replicas shares.
func (a *replay) own(chunk *code.Chunk) (pieces []int64) {
	for _, d := range a.job.GradientGroups() {
		left := d.Owned(d.Parameters(chunk.Model))
		for _, n := range d.Weights(chunk.Model) {
			if n = min(n, left); n > 0 {
				pieces = append(pieces, n)
				left -= n
			}
		}
	}
	a.owned = append(a.owned, pieces...)
	return pieces
}

// masters allocates fp32 copies of the given pieces, each made from a copy in
// the parameters' format.
func (a *replay) masters(pieces []int64) {
	s := &a.job.State
	if s.Master.Bytes == 0 {
		return
	}
	for _, n := range pieces {
		part := a.malloc("cloned weights", n*s.Weights.Bytes, memory.Temporaries)
		a.malloc("master weights", n*s.Master.Bytes, memory.Optimizer)
		a.free(&part)
	}
}

// beforeBackward allocates the gradients that the first backward makes.
func (a *replay) beforeBackward(kind trace.Kind) {
	if a.gradients || !isBackward(kind) {
		return
	}
	a.gradients = true
	bytes := a.job.State.Gradients.Bytes
	switch a.job.State.Layout {
	case framework.MegatronStates:
		return
	case job.ShardedStates:
		for _, n := range a.owned {
			a.malloc("gradient shards", n*bytes, memory.Gradients)
		}
		return
	case framework.DeepSpeedStates:
		if a.splitGradients() {
			bytes = a.job.State.GradientCopies.Bytes
		}
	}
	for _, chunk := range a.job.Stages[a.stage].Chunks {
		for _, n := range chunk.Parameters() {
			a.malloc("gradients", n*bytes, memory.Gradients)
		}
	}
}

// afterBackward is what a framework does with the gradients of a micro-batch:
// DeepSpeed casts each to fp32 before it adds it.
func (a *replay) afterBackward(kind trace.Kind) {
	if a.job.State.Layout != framework.DeepSpeedStates || !a.splitGradients() || !isBackward(kind) {
		return
	}
	a.pass("cast gradients", a.largestWeight()*a.job.State.Gradients.Bytes)
}

// splitGradients reports whether DeepSpeed's backwards write gradients in the
// weights' format beside those that add up in another.
func (a *replay) splitGradients() bool { return a.job.State.GradientCopies.Bytes > 0 }

// largestWeight returns the elements of the stage's largest parameter.
func (a *replay) largestWeight() int64 {
	var most int64
	for _, chunk := range a.job.Stages[a.stage].Chunks {
		for _, n := range chunk.Parameters() {
			most = max(most, n)
		}
	}
	return most
}

func isBackward(kind trace.Kind) bool {
	return kind == trace.Backward || kind == trace.BackwardInput || kind == trace.BackwardWeight
}

// optimizerStates allocates the states, two tensors a piece where there are two
// moments.
func (a *replay) optimizerStates() {
	if a.moments {
		return
	}
	a.moments = true
	for _, n := range a.owned {
		bytes := n * a.job.State.Moments.Bytes
		if bytes > 0 && a.job.State.MomentTensors == 2 {
			a.malloc("optimizer states", bytes/2, memory.Optimizer)
			bytes -= bytes / 2
		}
		a.malloc("optimizer states", bytes, memory.Optimizer)
	}
}
