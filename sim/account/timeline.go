package account

import (
	"trainsim/memory"
	"trainsim/sim/trace"
)

// Timeline is what the account notes of one phase: of the steady step, or of
// every step where they differ, and of the evaluation after it.
type Timeline struct {
	Points []Point
	Driver []DriverWork
}

// Point is a counter's new value in a phase: from the start of an
// instruction on, which allocates, or from its end on, which frees.
type Point struct {
	Action, PC int32
	Counter    int32
	Early      bool
	Value      int64
}

// mark begins the timeline of a step, or of the evaluation after it, if it may
// be one that is simulated.
func (a *replay) mark(evaluation bool) {
	if !a.recording() {
		return
	}
	if !evaluation && !a.job.Dynamic() {
		a.timelines, a.points = a.timelines[:0], 0
	}
	if len(a.timelines) == 0 {
		a.last = a.values()
		a.atStart = a.last
	}
	a.timelines = append(a.timelines, Timeline{})
}

// sample records the counters that changed, from the start of
// the present instruction on (early) or from its end on.
func (a *replay) sample(early bool) {
	if !a.keepPoints || !a.recording() || !a.detailed() {
		return
	}
	a.note(early)
}

// sampleAction is sample at the end of an action.
func (a *replay) sampleAction() {
	if a.keepPoints && a.recording() && !a.detailed() {
		a.note(false)
	}
}

// recording reports whether the present step may be simulated: any of those of
// different lengths, else the last.
func (a *replay) recording() bool { return a.job.Dynamic() || a.step >= a.job.Config.AccountSteps()-1 }

// detailed reports whether changes of the counters are still noted at their
// instruction: of a long run the rest is noted at the end of each action, so
// that a saved run has room for all stages.
func (a *replay) detailed() bool {
	return a.points < min(1<<21, trace.MaxSamples/2/len(a.job.Stages))
}

func (a *replay) note(early bool) {
	v := a.values()
	for k := range v {
		if v[k] != a.last[k] {
			t := &a.timelines[len(a.timelines)-1]
			t.Points = append(t.Points, Point{a.action, a.pc, int32(k), early, v[k]})
			a.points++
		}
	}
	a.last = v
}

// values returns the counters: allocated by kind, with what lies outside
// PyTorch in its kinds, and reserved.
func (a *replay) values() (v [memory.NumKinds + 1]int64) {
	for k, n := range a.alloc.AllocatedByKind() {
		v[k] = n + a.outside[k]
	}
	v[memory.NumKinds] = a.alloc.Reserved()
	return v
}
