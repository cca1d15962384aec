package account

import (
	"context"

	"trainsim/memory"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// replay is one replay.
type replay struct {
	job *job.Job
	// timeline: keep the points of the last step for a recording.
	timeline  bool
	stage     int
	outside   [memory.NumKinds]int64
	alloc     *memory.Allocator
	owned     []int64 // elements of the optimizer's tensors
	live      map[liveKey][]memory.Ref
	kept      map[string]bool        // tensors that stay, by name
	pool      map[int][][]memory.Ref // spare slices by length
	step      int
	action    int32
	pc        int32
	timelines []Timeline
	noted     int // points of all timelines
	last      [memory.NumKinds + 1]int64
	atStart   [memory.NumKinds + 1]int64
	unsharded []gathered // by chunk
	grads     bool       // gradients exist
	states    bool       // optimizer states exist
	// evaluating: the failure, if any, is in the evaluation.
	evaluating       bool
	peakInEvaluation bool
	// startPeak is the peak before the first step.
	startPeak int64
	full      error
	tensor    string
	// failedAction and failedPC are the instruction at which an allocation failed.
	failedAction, failedPC int32
}

// liveKey names a set of tensors: those of one chunk and micro-batch.
type liveKey struct {
	evaluation bool
	chunk      int16
	microbatch int32
}

func liveKeyOf(p *code.Part) liveKey {
	return liveKey{p.Kind == trace.Evaluation, p.Chunk, p.Microbatch}
}

// newReplay prepares a replay on a device of some capacity; more sets what else
// the allocator is to keep.
func newReplay(j *job.Job, stage int, capacity int64, more ...func(*memory.Config)) (*replay, error) {
	conf, err := memory.ParseConf(j.Config.Memory.AllocConf)
	if err != nil {
		return nil, err
	}
	device := memory.Config{Capacity: capacity, Conf: conf, Fraction: j.Config.Memory.Fraction}
	for _, set := range more {
		set(&device)
	}
	a := &replay{
		job: j, stage: stage,
		live: make(map[liveKey][]memory.Ref), kept: make(map[string]bool), pool: make(map[int][][]memory.Ref),
		alloc: memory.New(device), unsharded: make([]gathered, len(j.Stages[stage].Chunks)),
	}
	a.outside[memory.Context] = contextBytes(j)
	a.outside[memory.CommBuffers] = ncclBytes(j, stage)
	return a, nil
}

// recording reports whether the present step may be simulated: any of those of
// different lengths, else the last.
func (a *replay) recording() bool { return a.job.Dynamic() || a.step >= a.job.Config.AccountSteps()-1 }

// steady reports whether the steps done so far are enough.
func (a *replay) steady() bool {
	n := a.job.Config.AccountSteps()
	return a.step > n || a.step == n && (a.job.Dynamic() || len(a.timelines[0].Driver) == 0)
}

// run replays the steps and returns the allocation that failed.
func (a *replay) run(ctx context.Context) *OOM {
	for _, bytes := range a.outside {
		if !a.alloc.TakeExternal(bytes) {
			a.fail(&memory.OutOfMemory{Requested: bytes}, "CUDA context and communicators")
		}
	}
	a.action = -1
	a.start()
	a.startPeak = a.alloc.PeakAllocated()
	if a.full == nil {
		a.alloc.ResetPeaks()
	}
	for a.step = 0; !a.steady(); a.step++ {
		a.mark(false)
		script := a.job.Stages[a.stage].Script
		for i := range script {
			if a.full != nil {
				return a.oom()
			}
			if i%64 == 0 && ctx.Err() != nil {
				return nil // the caller returns the context's error
			}
			a.action = int32(i)
			a.runAction(&script[i])
		}
		a.endStep()
		if a.full != nil {
			return a.oom()
		}
	}
	return nil
}

// endStep replays what follows the step's actions.
func (a *replay) endStep() {
	a.update()
	a.sample(false)
	a.driver()
	a.evaluate()
}

// runAction replays the allocations of one action of a script.
func (a *replay) runAction(act *code.Action) {
	var refs [2][]memory.Ref
	var chunk [2]*code.Chunk
	var tensors [2][]model.Tensor
	a.pc = 0
	for i, p := range act.List() {
		if p.Microbatch >= 0 {
			chunk[i] = a.code(act, i)
			refs[i] = a.refs(liveKeyOf(&p), len(chunk[i].Model.Tensors))
			tensors[i] = chunk[i].Model.Tensors
			a.unshard(&p)
			a.beforeBackward(p.Kind)
		}
	}
	for pc, ops := range a.job.BlockOf(act, 0, a.step).Memory {
		a.pc = int32(pc)
		for i, op := range ops {
			if op.Free && (i == 0 || !ops[i-1].Free) {
				a.sample(true)
			}
			a.apply(chunk[op.Part], tensors[op.Part], refs[op.Part], op)
		}
		if n := len(ops); n > 0 {
			a.sample(!ops[n-1].Free)
			a.driver()
		}
	}
	for i, p := range act.List() {
		if chunk[i] == nil {
			continue
		}
		if p.Kind == trace.Evaluation { // what a pass keeps goes at its end
			a.freeAll(refs[i])
			a.sample(false)
		}
		if allFreed(refs[i]) {
			a.recycle(liveKeyOf(&p), refs[i])
		}
		a.reshard(&p)
		a.afterBackward(p.Kind)
	}
	a.sampleAction()
}

// code returns the chunk that a part of an action runs, at the length of the
// first replica's micro-batch.
func (a *replay) code(act *code.Action, i int) *code.Chunk {
	if !a.job.Dynamic() || act.Parts[i].Kind == trace.Evaluation {
		return act.Chunks[i]
	}
	return a.job.ChunkOfLength(act.Chunks[i], a.job.MicrobatchLength(0, a.step, act.Parts[i].Microbatch))
}

// apply replays one step of the allocator.
func (a *replay) apply(chunk *code.Chunk, tensors []model.Tensor, refs []memory.Ref, op code.MemoryOp) {
	if op.Free {
		a.free(&refs[op.Tensor])
		return
	}
	if refs[op.Tensor] != 0 {
		return
	}
	t := &tensors[op.Tensor]
	if t.Kept {
		a.keep(t)
		return
	}
	kind := memory.Temporaries
	switch {
	case t.Weights && chunk.Saved[op.Tensor]: // from the forward to the backward
		kind = memory.Weights
	case chunk.Saved[op.Tensor]:
		kind = memory.Activations
	}
	refs[op.Tensor] = a.malloc(t.Name, t.Bytes, kind)
}

// keep allocates a tensor that stays, the first time that one of its name comes.
func (a *replay) keep(t *model.Tensor) {
	if !a.kept[t.Name] {
		a.kept[t.Name] = true
		kind := memory.Gradients
		if t.Weights {
			kind = memory.Weights
		}
		a.malloc(t.Name, t.Bytes, kind)
	}
}

func (a *replay) malloc(what string, bytes int64, kind memory.Kind) memory.Ref {
	if bytes == 0 || a.full != nil {
		return 0
	}
	ref, err := a.alloc.Malloc(bytes, 0, kind)
	if err != nil {
		a.fail(err, what)
	}
	return ref
}

// free returns a tensor. Behind a failure it stays: the job has ended there, and
// what the allocator held at that moment is what a snapshot shows.
func (a *replay) free(ref *memory.Ref) {
	if *ref != 0 {
		if a.full == nil {
			a.alloc.Free(*ref)
		}
		*ref = 0
	}
}

// passing allocates a tensor that is gone at once.
func (a *replay) passing(what string, bytes int64) {
	ref := a.malloc(what, bytes, memory.Temporaries)
	a.free(&ref)
}

func (a *replay) fail(err error, what string) {
	if a.full == nil {
		a.full, a.tensor, a.failedAction, a.failedPC = err, what, a.action, a.pc
	}
}

func (a *replay) refs(key liveKey, n int) []memory.Ref {
	if r, ok := a.live[key]; ok {
		return r
	}
	spare := a.pool[n]
	var r []memory.Ref
	if len(spare) > 0 {
		r, a.pool[n] = spare[len(spare)-1], spare[:len(spare)-1]
	} else {
		r = make([]memory.Ref, n)
	}
	a.live[key] = r
	return r
}

func (a *replay) recycle(key liveKey, refs []memory.Ref) {
	delete(a.live, key)
	a.pool[len(refs)] = append(a.pool[len(refs)], refs)
}

func allFreed(refs []memory.Ref) bool {
	for _, r := range refs {
		if r != 0 {
			return false
		}
	}
	return true
}
