package account

import (
	"trainsim/memory"
	"trainsim/sim/model"
)

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

// pass allocates a tensor that is gone at once.
func (a *replay) pass(what string, bytes int64) {
	ref := a.malloc(what, bytes, memory.Temporaries)
	a.free(&ref)
}

// malloc allocates a tensor, unless one has failed before.
func (a *replay) malloc(what string, bytes int64, kind memory.Kind) memory.Ref {
	if bytes == 0 || a.failed() {
		return 0
	}
	ref, err := a.alloc.Malloc(bytes, 0, kind)
	if err != nil {
		a.fail(err, what)
	}
	return ref
}

func (a *replay) fail(err error, what string) {
	if !a.failed() {
		a.failure = failure{err: err, tensor: what, action: a.action, pc: a.pc}
	}
}

func (a *replay) failed() bool { return a.failure.err != nil }

func (a *replay) freeAll(refs []memory.Ref) {
	for i := range refs {
		a.free(&refs[i])
	}
}

// free returns a tensor. After a failure it stays: the job has ended there, and
// what the allocator held at that moment is what a snapshot shows.
func (a *replay) free(ref *memory.Ref) {
	if *ref != 0 {
		if !a.failed() {
			a.alloc.Free(*ref)
		}
		*ref = 0
	}
}

// refs returns the tensors of a chunk and micro-batch, none of them there yet when
// it is asked for the first time.
func (a *replay) refs(key liveKey, n int) []memory.Ref {
	if r, ok := a.live[key]; ok {
		return r
	}
	spare := a.spare[n]
	var r []memory.Ref
	if len(spare) > 0 {
		r, a.spare[n] = spare[len(spare)-1], spare[:len(spare)-1]
	} else {
		r = make([]memory.Ref, n)
	}
	a.live[key] = r
	return r
}

// recycle keeps the slice of tensors that have all gone for the next.
func (a *replay) recycle(key liveKey, refs []memory.Ref) {
	delete(a.live, key)
	a.spare[len(refs)] = append(a.spare[len(refs)], refs)
}

func allFreed(refs []memory.Ref) bool {
	for _, r := range refs {
		if r != 0 {
			return false
		}
	}
	return true
}
