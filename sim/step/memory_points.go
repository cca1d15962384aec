package step

import "trainsim/memory"

// memPoint is a counter's new value in the last step: from the start of an
// instruction on, which allocates, or from its end on, which frees.
type memPoint struct {
	action, pc int32
	counter    int32
	early      bool
	value      int64
}

// values returns the counters: allocated by kind, with what lies outside
// PyTorch in its kinds, and reserved.
func (a *account) values() (v [memory.NumKinds + 1]int64) {
	for k, n := range a.alloc.AllocatedByKind() {
		v[k] = n + a.outside[k]
	}
	v[memory.NumKinds] = a.alloc.Reserved()
	return v
}

// mark begins the recorded step.
func (a *account) mark() {
	a.last = a.values()
	a.atStart = a.last
	a.points, a.driven = a.points[:0], a.driven[:0]
}

// sample records the counters that changed in the last step, from the start of
// the present instruction on (early) or from its end on.
func (a *account) sample(early bool) {
	if !a.timeline || !a.recording() {
		return
	}
	v := a.values()
	for k := range v {
		if v[k] != a.last[k] {
			a.points = append(a.points, memPoint{a.action, a.pc, int32(k), early, v[k]})
		}
	}
	a.last = v
}

func (a *account) result() RankMemory {
	m := RankMemory{
		Stage: a.stage, Rank: a.stage * a.job.Config.Parallel.columns(),
		PeakAllocated: a.alloc.PeakAllocated(), PeakReserved: a.alloc.PeakReserved(),
		StartPeak: a.startPeak, AtPeak: a.alloc.PeakByKind(), atStart: a.atStart, points: a.points, driven: a.driven,
	}
	for k, n := range a.outside {
		m.AtPeak[k] += n
		m.Outside += n
	}
	return m
}
