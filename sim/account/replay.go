package account

import (
	"context"

	"trainsim/memory"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// replay is the replay of one rank's allocations.
type replay struct {
	job     *job.Job
	stage   int
	alloc   *memory.Allocator
	outside [memory.NumKinds]int64 // what PyTorch's allocator does not hold

	// Where the replay is: the step, and the instruction of its script.
	step       int
	action, pc int32

	// What it holds.
	live      map[liveKey][]memory.Ref
	spare     map[int][][]memory.Ref // slices for live, by length
	kept      map[string]bool        // tensors that stay, by name
	owned     []int64                // elements of the optimizer's tensors
	gathered  []gathered             // by chunk
	gradients bool                   // they exist
	moments   bool                   // the optimizer's states exist

	// What it notes.
	keepPoints       bool // of the steps that may be simulated, for a recording
	timelines        []Timeline
	points           int                        // of all timelines
	last, atStart    [memory.NumKinds + 1]int64 // values of the counters
	peakInEvaluation bool
	failure          failure
}

// failure is the first allocation that failed; err is nil without.
type failure struct {
	err          error
	tensor       string
	action, pc   int32
	inEvaluation bool
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
		live: make(map[liveKey][]memory.Ref), kept: make(map[string]bool), spare: make(map[int][][]memory.Ref),
		alloc: memory.New(device), gathered: make([]gathered, len(j.Stages[stage].Chunks)),
	}
	a.outside[memory.Context] = contextBytes(j)
	a.outside[memory.CommBuffers] = ncclBytes(j, stage)
	return a, nil
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
	if !a.failed() {
		a.alloc.ResetPeaks()
	}
	for a.step = 0; !a.steady(); a.step++ {
		a.mark(false)
		script := a.job.Stages[a.stage].Script
		for i := range script {
			if a.failed() {
				return a.oom()
			}
			if i%64 == 0 && ctx.Err() != nil {
				return nil // the caller returns the context's error
			}
			a.action = int32(i)
			a.runAction(&script[i])
		}
		a.endStep()
		if a.failed() {
			return a.oom()
		}
	}
	return nil
}

// steady reports whether the steps done so far are enough.
func (a *replay) steady() bool {
	n := a.job.Config.AccountSteps()
	return a.step > n || a.step == n && (a.job.Dynamic() || len(a.timelines[0].Driver) == 0)
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
	a.pc = 0
	for i, p := range act.List() {
		if p.Microbatch >= 0 {
			chunk[i] = a.code(act, i)
			refs[i] = a.refs(liveKeyOf(&p), len(chunk[i].Model.Tensors))
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
			a.apply(chunk[op.Part], refs[op.Part], op)
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

// liveKey names a set of tensors: those of one chunk and micro-batch.
type liveKey struct {
	evaluation bool
	chunk      int16
	microbatch int32
}

func liveKeyOf(p *code.Part) liveKey {
	return liveKey{p.Kind == trace.Evaluation, p.Chunk, p.Microbatch}
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
func (a *replay) apply(chunk *code.Chunk, refs []memory.Ref, op code.MemoryOp) {
	if op.Free {
		a.free(&refs[op.Tensor])
		return
	}
	if refs[op.Tensor] != 0 {
		return
	}
	t := &chunk.Model.Tensors[op.Tensor]
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
