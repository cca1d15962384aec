package step

import (
	"trainsim/memory"
	"trainsim/sim/trace"
)

// stateLayout is how a framework lays weights, gradients and optimizer states
// out in memory.
type stateLayout uint8

const (
	// plainLayout is PyTorch's own: a tensor for each parameter, gradients from
	// the first backward on, in DistributedDataParallel a second copy of them
	// in buckets.
	plainLayout stateLayout = iota
	// megatronLayout keeps all gradients of a chunk in one buffer and, with the
	// distributed optimizer, all its parameters in another.
	megatronLayout
	// deepspeedLayout is DeepSpeed's ZeRO-1: flat parameters, a flat fp32
	// partition; 16-bit gradients live beside fp32 ones.
	deepspeedLayout
	// shardedLayout is FSDP: each unit's parameters, gradients and states are
	// fp32 shards, what is gathered comes and goes.
	shardedLayout
)

func (c *Config) stateLayout() stateLayout {
	switch {
	case c.Parallel.ZeRO >= 2 && c.shards() > 1:
		return shardedLayout
	case c.Host.Framework == "deepspeed":
		return deepspeedLayout
	case c.megatron():
		return megatronLayout
	}
	return plainLayout
}

// hybrid reports whether a shard spans some of the replicas only, so that others
// hold copies of it (PyTorch's HYBRID_SHARD).
func (c *Config) hybrid() bool {
	g := c.Parallel.FSDPGroup
	return c.Parallel.ZeRO >= 2 && g > 1 && g < c.Parallel.DP
}

// shards returns over how many ranks ZeRO spreads what it shards, those of
// context parallelism among them.
func (c *Config) shards() int64 {
	if c.hybrid() {
		return int64(c.Parallel.FSDPGroup * c.Parallel.CP)
	}
	return int64(c.Parallel.DP * c.Parallel.CP)
}

// deepspeedBucket is DeepSpeed's default bucket for reducing gradients and for
// gathering parameters, in elements.
const deepspeedBucket = 500_000_000

// start allocates what is there before the first step.
func (a *account) start() {
	for _, cc := range a.job.stages[a.stage].chunks {
		a.frozen(cc)
		switch a.state {
		case shardedLayout:
			a.startSharded(cc)
		case deepspeedLayout:
			a.startDeepSpeed(cc)
		case megatronLayout:
			a.startMegatron(cc)
		default:
			a.startPlain(cc)
		}
	}
	if a.state == deepspeedLayout {
		a.optimizerStates() // made by a step over zeros
	}
	a.workspace()
	a.loadAhead()
}

// frozen allocates the weights that are not trained; FSDP shards them unit by
// unit in the format in which they are gathered.
func (a *account) frozen(cc *chunkCode) {
	list, shards := cc.chunk.Frozen, int64(1)
	if a.state == shardedLayout {
		shards = a.job.Config.shards()
		list = a.job.dp.gathers(cc.chunk)
		for i, n := range a.job.dp.units(cc.chunk) {
			list[i] -= n * a.job.dp.paramBytes
		}
	}
	for _, bytes := range list {
		a.malloc("frozen weights", (bytes+shards-1)/shards, memory.Weights)
	}
}

// workspace is what cuBLAS keeps on a stream, for PyTorch's own calls and once
// more for Transformer Engine's.
func (a *account) workspace() {
	bytes := int64(a.job.Config.GPU.Generation().CublasWorkspace)
	a.malloc("cuBLAS workspace", bytes, memory.Temporaries)
	if a.job.Config.transformerEngine() {
		a.malloc("Transformer Engine workspace", bytes, memory.Temporaries)
	}
}

// weights allocates the chunk's parameters one by one.
func (a *account) weights(cc *chunkCode) []memory.Ref {
	list := cc.weights()
	out := make([]memory.Ref, len(list))
	copies := int64(1)
	if v := a.job.Program.WeightVersions; v != nil {
		copies = int64(v[a.stage]) // stashed versions
	}
	for range copies {
		for i, n := range list {
			out[i] = a.malloc("weights", n*a.job.dp.paramBytes, memory.Weights)
		}
	}
	return out
}

func (a *account) freeAll(refs []memory.Ref) {
	for i := range refs {
		a.free(&refs[i])
	}
}

// own appends the pieces of the chunk's parameters whose optimizer states the
// rank holds: the first of equal parts of what each group of replicas shares.
func (a *account) own(cc *chunkCode) (pieces []int64) {
	for _, d := range a.job.replicas() {
		left := d.owned(d.parameters(cc.chunk))
		for _, n := range d.weights(cc.chunk) {
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
func (a *account) masters(pieces []int64) {
	for _, n := range pieces {
		if a.job.opt.Master > 0 {
			part := a.malloc("cloned weights", n*a.job.dp.paramBytes, memory.Temporaries)
			a.malloc("master weights", n*a.job.opt.Master, memory.Optimizer)
			a.free(&part)
		}
	}
}

func (a *account) startPlain(cc *chunkCode) {
	a.weights(cc)
	if a.job.dp.ranks > 1 {
		for n := cc.chunk.Parameters * a.job.dp.gradBytes; n > 0; n -= ddpBucket {
			a.malloc("gradient buckets", min(n, ddpBucket), memory.Gradients)
		}
	}
	a.masters(a.own(cc))
}

// ddpBucket is DistributedDataParallel's default bucket_cap_mb.
const ddpBucket = 25 << 20

func (a *account) startMegatron(cc *chunkCode) {
	refs := a.weights(cc)
	for _, d := range a.job.replicas() { // a pair of buffers each
		n := d.parameters(cc.chunk)
		if d.zero >= 1 { // the weights move
			a.malloc("weights", n*d.paramBytes, memory.Weights)
		}
		a.malloc("gradients", n*d.gradBytes, memory.Gradients)
	}
	if a.job.dp.zero >= 1 {
		a.freeAll(refs)
	}
	a.masters(a.own(cc))
}

func (a *account) startDeepSpeed(cc *chunkCode) {
	n := cc.chunk.Parameters
	refs := a.weights(cc)
	if a.job.splitGrads() { // flattened from clones
		refs = append(refs, a.weights(cc)...)
	}
	a.malloc("weights", n*a.job.dp.paramBytes, memory.Weights)
	a.freeAll(refs)
	part := a.job.dp.owned(n)
	a.owned = append(a.owned, part)
	a.malloc("master weights", part*a.job.opt.Master, memory.Optimizer)
	if a.job.splitGrads() {
		a.malloc("fp32 gradients", n*a.job.dp.gradBytes, memory.Gradients)
	}
}

// splitGrads reports whether gradients in the parameters' format live beside
// those that accumulate in another (DeepSpeed's BF16_Optimizer).
func (j *Job) splitGrads() bool { return j.dp.gradBytes != j.dp.paramBytes }

func (a *account) startSharded(cc *chunkCode) {
	for _, n := range a.job.dp.units(cc.chunk) {
		if n > 0 {
			n = (n + a.job.Config.shards() - 1) / a.job.Config.shards()
			a.malloc("weight shards", 4*n, memory.Weights)
			a.owned = append(a.owned, n)
		}
	}
}

// beforeBackward allocates the gradients that the first backward makes.
func (a *account) beforeBackward(kind trace.Kind) {
	if a.grads || !isBackward(kind) {
		return
	}
	a.grads = true
	bytes := a.job.dp.gradBytes
	switch a.state {
	case megatronLayout:
		return
	case shardedLayout:
		for _, n := range a.owned {
			a.malloc("gradient shards", 4*n, memory.Gradients)
		}
		return
	case deepspeedLayout:
		bytes = a.job.dp.paramBytes
	}
	for _, cc := range a.job.stages[a.stage].chunks {
		for _, n := range cc.weights() {
			a.malloc("gradients", n*bytes, memory.Gradients)
		}
	}
}

// afterBackward is what a framework does with the gradients of a micro-batch:
// DeepSpeed casts each to fp32 before it adds it.
func (a *account) afterBackward(kind trace.Kind) {
	if a.state != deepspeedLayout || !a.job.splitGrads() || !isBackward(kind) {
		return
	}
	a.passing("cast gradients", a.largestWeight()*a.job.dp.gradBytes)
}

// largestWeight returns the elements of the stage's largest parameter.
func (a *account) largestWeight() int64 {
	var most int64
	for _, cc := range a.job.stages[a.stage].chunks {
		for _, n := range cc.weights() {
			most = max(most, n)
		}
	}
	return most
}

func isBackward(kind trace.Kind) bool {
	return kind == trace.Backward || kind == trace.BackwardInput || kind == trace.BackwardWeight
}

// StaticBytes returns the weights, gradients and optimizer bytes of the
// fullest rank: what is there before any activation.
func (j *Job) StaticBytes() int64 {
	var most int64
	for i := range j.stages {
		s := &j.stages[i]
		most = max(most, s.gradElements*(j.dp.paramBytes+j.dp.gradBytes)+s.ownElements*(j.opt.Master+j.opt.States))
	}
	return most
}
