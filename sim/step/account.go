package step

import (
	"context"
	"trainsim/memory"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// RankMemory is the memory account of one rank (the first) of a pipeline rank.
type RankMemory struct {
	Stage, Rank int
	// PeakAllocated and PeakReserved are PyTorch's two figures; Outside is what
	// the CUDA context and NCCL take from the driver beside them.
	PeakAllocated, PeakReserved, Outside int64
	// StartPeak is what was allocated at most before the first step, while
	// weights moved into the framework's buffers.
	StartPeak int64
	Capacity  int64
	// Allowed is what memory_fraction lets PyTorch reserve, 0 where that is not
	// what limits it.
	Allowed int64
	// AtPeak splits PeakAllocated by kind; context and communication buffers
	// outside PyTorch are added to their kinds.
	AtPeak [memory.NumKinds]int64
	// PeakInEvaluation says that the peak is in the evaluation behind a step.
	PeakInEvaluation bool
	// OOM is the allocation that did not fit, nil if all did. The other
	// figures are then those of a device with room enough.
	OOM *OOM

	atStart   [memory.NumKinds + 1]int64
	timelines []timeline // by phase of the simulation
}

// steadySteps is how many steps the account runs: optimizer states appear at
// the end of the first, so that the second has the steady peak. One more runs
// if the driver had work in the second.
const steadySteps = 2

// Account replays the allocations of one rank of every pipeline rank.
func (j *Job) Account() ([]RankMemory, error) { return j.account(context.Background(), false) }

// account is Account until ctx is done, with the timeline if points is set.
func (j *Job) account(ctx context.Context, points bool) ([]RankMemory, error) {
	out := make([]RankMemory, len(j.stages))
	for s := range j.stages {
		m, err := j.accountStage(ctx, s, points)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[s] = m
	}
	return out, nil
}

// accountStage runs with the device's memory and, where that does not do, once
// more with memory enough, to know what would be needed.
func (j *Job) accountStage(ctx context.Context, stage int, points bool) (RankMemory, error) {
	a, err := j.newAccount(stage, int64(j.Config.GPU.Memory))
	if err != nil {
		return RankMemory{}, err
	}
	a.timeline = points
	oom := a.run(ctx)
	if oom != nil {
		if a, err = j.newAccount(stage, roomy); err != nil {
			return RankMemory{}, err
		}
		a.timeline = points
		a.run(ctx)
	}
	m := a.result()
	m.OOM = oom
	j.limit(&m)
	if oom != nil {
		oom.markFragmentation(&m)
	}
	return m, nil
}

// roomy is a device on which everything fits: as much as the allocator's
// virtual address ranges take.
const roomy = 1 << 45

// account is one replay.
type account struct {
	job *Job
	// timeline: keep the points of the last step for a recording.
	timeline  bool
	stage     int
	outside   [memory.NumKinds]int64
	alloc     *memory.Allocator
	state     stateLayout
	owned     []int64 // elements of the optimizer's tensors
	live      map[liveKey][]memory.Ref
	kept      map[string]bool        // tensors that stay, by name
	pool      map[int][][]memory.Ref // spare slices by length
	step      int
	action    int32
	pc        int32
	timelines []timeline
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

func liveKeyOf(p *part) liveKey { return liveKey{p.kind == trace.Evaluation, p.chunk, p.microbatch} }

// newAccount prepares a replay on a device of some capacity; more sets what else
// the allocator is to keep.
func (j *Job) newAccount(stage int, capacity int64, more ...func(*memory.Config)) (*account, error) {
	conf, err := memory.ParseConf(j.Config.Memory.AllocConf)
	if err != nil {
		return nil, err
	}
	device := memory.Config{Capacity: capacity, Conf: conf, Fraction: j.Config.Memory.Fraction}
	for _, set := range more {
		set(&device)
	}
	a := &account{
		job: j, stage: stage, state: j.Config.stateLayout(),
		live: make(map[liveKey][]memory.Ref), kept: make(map[string]bool), pool: make(map[int][][]memory.Ref),
		alloc: memory.New(device), unsharded: make([]gathered, len(j.stages[stage].chunks)),
	}
	a.outside[memory.Context] = j.contextBytes()
	a.outside[memory.CommBuffers] = j.ncclBytes(stage)
	return a, nil
}

// recording reports whether the present step may be simulated: any of those of
// different lengths, else the last.
func (a *account) recording() bool { return a.job.lengths != nil || a.step >= a.job.Config.steps()-1 }

// steady reports whether the steps done so far are enough.
func (a *account) steady() bool {
	n := a.job.Config.steps()
	return a.step > n || a.step == n && (a.job.lengths != nil || len(a.timelines[0].driven) == 0)
}

// run replays the steps and returns the allocation that failed.
func (a *account) run(ctx context.Context) *OOM {
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
		script := a.job.stages[a.stage].script
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
func (a *account) endStep() {
	a.update()
	a.sample(false)
	a.driver()
	a.evaluate()
}

// runAction replays the allocations of one action of a script.
func (a *account) runAction(act *action) {
	var refs [2][]memory.Ref
	var cc [2]*chunkCode
	var tensors [2][]model.Tensor
	a.pc = 0
	for i, p := range act.list() {
		if p.microbatch >= 0 {
			cc[i] = a.code(act, i)
			refs[i] = a.refs(liveKeyOf(&p), len(cc[i].chunk.Tensors))
			tensors[i] = cc[i].chunk.Tensors
			a.unshard(&p)
			a.beforeBackward(p.kind)
		}
	}
	for pc, ops := range a.job.code(act, 0, a.step).memory {
		a.pc = int32(pc)
		for i, op := range ops {
			if op.free && (i == 0 || !ops[i-1].free) {
				a.sample(true)
			}
			a.apply(cc[op.part], tensors[op.part], refs[op.part], op)
		}
		if n := len(ops); n > 0 {
			a.sample(!ops[n-1].free)
			a.driver()
		}
	}
	for i, p := range act.list() {
		if cc[i] == nil {
			continue
		}
		if p.kind == trace.Evaluation { // what a pass keeps goes at its end
			a.freeAll(refs[i])
			a.sample(false)
		}
		if allFreed(refs[i]) {
			a.recycle(liveKeyOf(&p), refs[i])
		}
		a.reshard(&p)
		a.afterBackward(p.kind)
	}
	a.sampleAction()
}

// code returns the chunk that a part of an action runs, at the length of the
// first replica's micro-batch.
func (a *account) code(act *action, i int) *chunkCode {
	if a.job.lengths == nil || act.parts[i].kind == trace.Evaluation {
		return act.chunks[i]
	}
	return a.job.sized(act.chunks[i], a.job.length(0, a.step, act.parts[i].microbatch))
}

// apply replays one step of the allocator.
func (a *account) apply(cc *chunkCode, tensors []model.Tensor, refs []memory.Ref, op memOp) {
	if op.free {
		a.free(&refs[op.tensor])
		return
	}
	if refs[op.tensor] != 0 {
		return
	}
	t := &tensors[op.tensor]
	if t.Kept {
		a.keep(t)
		return
	}
	kind := memory.Temporaries
	switch {
	case t.Weights && cc.saved[op.tensor]: // from the forward to the backward
		kind = memory.Weights
	case cc.saved[op.tensor]:
		kind = memory.Activations
	}
	refs[op.tensor] = a.malloc(t.Name, t.Bytes, kind)
}

// keep allocates a tensor that stays, the first time that one of its name comes.
func (a *account) keep(t *model.Tensor) {
	if !a.kept[t.Name] {
		a.kept[t.Name] = true
		kind := memory.Gradients
		if t.Weights {
			kind = memory.Weights
		}
		a.malloc(t.Name, t.Bytes, kind)
	}
}

func (a *account) malloc(what string, bytes int64, kind memory.Kind) memory.Ref {
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
func (a *account) free(ref *memory.Ref) {
	if *ref != 0 {
		if a.full == nil {
			a.alloc.Free(*ref)
		}
		*ref = 0
	}
}

// passing allocates a tensor that is gone at once.
func (a *account) passing(what string, bytes int64) {
	ref := a.malloc(what, bytes, memory.Temporaries)
	a.free(&ref)
}

func (a *account) fail(err error, what string) {
	if a.full == nil {
		a.full, a.tensor, a.failedAction, a.failedPC = err, what, a.action, a.pc
	}
}

func (a *account) refs(key liveKey, n int) []memory.Ref {
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

func (a *account) recycle(key liveKey, refs []memory.Ref) {
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
