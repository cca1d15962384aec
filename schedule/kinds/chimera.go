package kinds

import (
	"cmp"
	"slices"

	"trainsim/schedule"
)

// chimeraKinds is Chimera's bidirectional schedule.
func chimeraKinds() []schedule.Kind {
	return []schedule.Kind{{
		Name:       "chimera",
		Summary:    "two pipes in opposite directions fill each other's bubbles; two weight copies",
		Constraint: "p even, m a multiple of p; two directions a rank", FixedChunks: true, Chunks: 2,
		Placement: schedule.Bidirectional, Check: checkChimera, Fill: fillChimera,
	}}
}

func checkChimera(req *schedule.Request) error {
	ranks, m := req.Ranks, req.Microbatches
	if ranks%2 != 0 {
		return req.Refuse("ranks", ranks, "even: each direction takes half of the micro-batches",
			func(x int) bool { return x%2 == 0 })
	}
	if m%ranks != 0 {
		return req.Refuse("microbatches", m, "a multiple of the ranks", func(x int) bool { return x%ranks == 0 })
	}
	return nil
}

func fillChimera(req *schedule.Request, p *schedule.Program) error {
	for r := range p.Lists {
		p.Lists[r] = chimeraList(req.Ranks, req.Microbatches, r)
	}
	return nil
}

// chimeraList places the micro-batches of units of p, half of them in each
// direction, at their slots (F and B one slot each, a new unit each 2p slots)
// and returns them in the order of the slots.
func chimeraList(ranks, m, r int) []schedule.Action {
	type timed struct {
		slot int
		a    schedule.Action
	}
	var slots []timed
	half := ranks / 2
	for mb := range m / 2 {
		unit, k := mb/half, mb%half
		for dir, stage := range []int{r, ranks - 1 - r} {
			at := 2*ranks*unit + 2*k
			slots = append(slots,
				timed{at + stage, schedule.Forward.At(mb, dir)},
				timed{at + 2*ranks - 1 - stage, schedule.Backward.At(mb, dir)})
		}
	}
	slices.SortStableFunc(slots, func(a, b timed) int { return cmp.Compare(a.slot, b.slot) })
	list := make([]schedule.Action, len(slots))
	for i, s := range slots {
		list[i] = s.a
	}
	return list
}
