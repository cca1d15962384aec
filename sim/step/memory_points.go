package step

import "trainsim/memory"

// timeline is what the account notes of one phase: of the steady step, or of
// every step where they differ, and of the evaluation behind it.
type timeline struct {
	points []memPoint
	driven []driverPoint
}

// memPoint is a counter's new value in a phase: from the start of an
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

// mark begins the timeline of a step, or of the evaluation behind it, if it may
// be one that is simulated.
func (a *account) mark(evaluation bool) {
	if !a.recording() {
		return
	}
	if !evaluation && a.job.lengths == nil {
		a.timelines = a.timelines[:0]
	}
	if len(a.timelines) == 0 {
		a.last = a.values()
		a.atStart = a.last
	}
	a.timelines = append(a.timelines, timeline{})
}

// sample records the counters that changed, from the start of
// the present instruction on (early) or from its end on.
func (a *account) sample(early bool) {
	if !a.timeline || !a.recording() {
		return
	}
	v := a.values()
	for k := range v {
		if v[k] != a.last[k] {
			t := &a.timelines[len(a.timelines)-1]
			t.points = append(t.points, memPoint{a.action, a.pc, int32(k), early, v[k]})
		}
	}
	a.last = v
}

func (a *account) result() RankMemory {
	m := RankMemory{
		Stage: a.stage, Rank: a.stage * a.job.Config.Parallel.columns(),
		PeakAllocated: a.alloc.PeakAllocated(), PeakReserved: a.alloc.PeakReserved(),
		StartPeak: a.startPeak, AtPeak: a.alloc.PeakByKind(), atStart: a.atStart, timelines: a.timelines,
	}
	for k, n := range a.outside {
		m.AtPeak[k] += n
		m.Outside += n
	}
	return m
}
