package search

import (
	"cmp"
	"slices"

	"trainsim/sim/bound"
	"trainsim/sim/report"
)

// Ranking keeps what a planner's results are made of: for each number of
// GPUs the fastest layouts that fit, and the front of step time against memory.
// It also says which layouts cannot be among them any more, so that what it
// keeps is what simulating every layout would keep.
type Ranking struct {
	keep   int
	groups []report.PlanGroup // by number of GPUs
}

// NewRanking keeps so many of the fastest layouts for each number of GPUs.
func NewRanking(keep int) *Ranking { return &Ranking{keep: keep} }

// Groups returns what is kept, by growing number of GPUs.
func (r *Ranking) Groups() []report.PlanGroup {
	return slices.DeleteFunc(slices.Clone(r.groups), func(g report.PlanGroup) bool { return len(g.Best) == 0 })
}

// group returns the group of a number of GPUs.
func (r *Ranking) group(gpus int) *report.PlanGroup {
	i, ok := slices.BinarySearchFunc(r.groups, gpus,
		func(g report.PlanGroup, n int) int { return cmp.Compare(g.GPUs, n) })
	if !ok {
		r.groups = slices.Insert(r.groups, i, report.PlanGroup{GPUs: gpus})
	}
	return &r.groups[i]
}

// slowest is how many times the fastest step a result may take: what is slower
// than that is nobody's choice.
const slowest = 2

// Add takes a simulated layout into account. One that does not run is no
// result; one that is there already changes nothing.
func (r *Ranking) Add(row report.SweepRow) {
	if !row.Runs() {
		return
	}
	g := r.group(row.GPUs)
	i, _ := slices.BinarySearchFunc(g.Best, row, faster)
	if known := i < len(g.Best) && g.Best[i].Point == row.Point; i < r.keep && !known {
		g.Best = slices.Insert(g.Best, i, row)
		g.Best = g.Best[:min(len(g.Best), r.keep)]
	}
	for i := range g.Front {
		if f := &g.Front[i]; f.StepTime <= row.StepTime && f.PeakMemory <= row.PeakMemory &&
			(f.StepTime < row.StepTime || f.PeakMemory < row.PeakMemory || f.Point < row.Point) {
			return
		}
	}
	g.Front = slices.DeleteFunc(g.Front,
		func(f report.SweepRow) bool { return row.StepTime <= f.StepTime && row.PeakMemory <= f.PeakMemory })
	i, _ = slices.BinarySearchFunc(g.Front, row, faster)
	g.Front = slices.Insert(g.Front, i, row)
	limit := slowest * g.Best[0].StepTime
	g.Best = slices.DeleteFunc(g.Best, func(f report.SweepRow) bool { return f.StepTime > limit })
	g.Front = slices.DeleteFunc(g.Front, func(f report.SweepRow) bool { return f.StepTime > limit })
}

// faster orders rows by step time; of equals the first layout comes first.
func faster(a, b report.SweepRow) int {
	return cmp.Or(cmp.Compare(a.StepTime, b.StepTime), cmp.Compare(a.Point, b.Point))
}

// Needless reports whether a layout with these bounds can be neither among the
// fastest nor on the front: it is slower than all of the fastest, and something
// is faster and no larger, or it takes more than twice the fastest step. Layouts
// that are exactly as good are never needless.
func (r *Ranking) Needless(gpus int, b bound.Bound) bool {
	g := r.group(gpus)
	t := b.Time.Seconds()
	if len(g.Best) > 0 && t > slowest*g.Best[0].StepTime {
		return true
	}
	if len(g.Best) < r.keep || t <= g.Best[len(g.Best)-1].StepTime {
		return false
	}
	return slices.ContainsFunc(g.Front,
		func(f report.SweepRow) bool { return f.StepTime < t && f.PeakMemory <= b.Memory })
}
