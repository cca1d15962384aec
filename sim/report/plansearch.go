package report

import (
	"cmp"
	"slices"

	"trainsim/sim/bound"
)

// PlanSearch keeps what a planner's results are made of: for each number of
// GPUs the fastest layouts that fit, and the front of step time against memory.
// It also says which layouts cannot be among them any more, so that what it
// keeps is what simulating every layout would keep.
type PlanSearch struct {
	keep   int
	groups []planGroup // by number of GPUs
}

type planGroup struct {
	gpus  int
	best  []SweepRow // by step time
	front []SweepRow // by step time; each needs less memory than those before it
}

// NewPlanSearch keeps so many of the fastest layouts for each number of GPUs.
func NewPlanSearch(keep int) *PlanSearch { return &PlanSearch{keep: keep} }

// group returns the group of a number of GPUs.
func (s *PlanSearch) group(gpus int) *planGroup {
	i, ok := slices.BinarySearchFunc(s.groups, gpus, func(g planGroup, n int) int { return cmp.Compare(g.gpus, n) })
	if !ok {
		s.groups = slices.Insert(s.groups, i, planGroup{gpus: gpus})
	}
	return &s.groups[i]
}

// slowest is how many times the fastest step a result may take: what is slower
// than that is nobody's choice.
const slowest = 2

// Add takes a simulated layout into account. One that does not run is no
// result; one that is there already changes nothing.
func (s *PlanSearch) Add(row SweepRow) {
	if !row.Runs() {
		return
	}
	g := s.group(row.GPUs)
	i, _ := slices.BinarySearchFunc(g.best, row, faster)
	if known := i < len(g.best) && g.best[i].Point == row.Point; i < s.keep && !known {
		g.best = slices.Insert(g.best, i, row)
		g.best = g.best[:min(len(g.best), s.keep)]
	}
	for i := range g.front {
		if f := &g.front[i]; f.StepTime <= row.StepTime && f.PeakMemory <= row.PeakMemory &&
			(f.StepTime < row.StepTime || f.PeakMemory < row.PeakMemory || f.Point < row.Point) {
			return
		}
	}
	g.front = slices.DeleteFunc(g.front, func(f SweepRow) bool { return row.StepTime <= f.StepTime && row.PeakMemory <= f.PeakMemory })
	i, _ = slices.BinarySearchFunc(g.front, row, faster)
	g.front = slices.Insert(g.front, i, row)
	limit := slowest * g.best[0].StepTime
	g.best = slices.DeleteFunc(g.best, func(f SweepRow) bool { return f.StepTime > limit })
	g.front = slices.DeleteFunc(g.front, func(f SweepRow) bool { return f.StepTime > limit })
}

// faster orders rows by step time; of equals the first layout comes first.
func faster(a, b SweepRow) int {
	return cmp.Or(cmp.Compare(a.StepTime, b.StepTime), cmp.Compare(a.Point, b.Point))
}

// Needless reports whether a layout with these bounds can be neither among the
// fastest nor on the front: it is slower than all of the fastest, and something
// is faster and no larger, or it takes more than twice the fastest step. Layouts
// that are exactly as good are never needless.
func (s *PlanSearch) Needless(gpus int, b bound.Bound) bool {
	g := s.group(gpus)
	t := b.Time.Seconds()
	if len(g.best) > 0 && t > slowest*g.best[0].StepTime {
		return true
	}
	if len(g.best) < s.keep || t <= g.best[len(g.best)-1].StepTime {
		return false
	}
	return slices.ContainsFunc(g.front, func(f SweepRow) bool { return f.StepTime < t && f.PeakMemory <= b.Memory })
}
