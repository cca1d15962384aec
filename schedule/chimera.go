package schedule

import (
	"cmp"
	"slices"
)

// chimeraKinds is Chimera's bidirectional schedule.
func chimeraKinds() []Kind {
	return []Kind{{
		Name:       "chimera",
		Summary:    "two pipes in opposite directions fill each other's bubbles; two weight copies",
		Constraint: "p even, m a multiple of p; two directions a rank", FixedChunks: true, chunks: 2, build: buildChimera,
	}}
}

func buildChimera(k *Kind, o Options) (*Program, error) {
	ranks, m := o.Ranks, o.Microbatches
	if ranks%2 != 0 {
		return nil, countError(k.Name, "ranks", ranks, "even: each direction takes half of the micro-batches", func(x int) bool { return x%2 == 0 })
	}
	if m%ranks != 0 {
		return nil, countError(k.Name, "microbatches", m, "a multiple of the ranks", func(x int) bool { return x%ranks == 0 })
	}
	p := newProgram(k.Name, o, 2, Bidirectional)
	for r := range p.Lists {
		p.Lists[r] = chimeraList(ranks, m, r)
	}
	return p, nil
}

// chimeraList places the micro-batches of units of p, half of them in each
// direction, at their slots (F and B one slot each, a new unit each 2p slots)
// and returns them in the order of the slots.
func chimeraList(ranks, m, r int) []Action {
	type timed struct {
		slot int
		a    Action
	}
	var slots []timed
	half := ranks / 2
	for mb := range m / 2 {
		unit, k := mb/half, mb%half
		for dir, stage := range []int{r, ranks - 1 - r} {
			at := 2*ranks*unit + 2*k
			slots = append(slots,
				timed{at + stage, act(Forward, mb, dir)},
				timed{at + 2*ranks - 1 - stage, act(Backward, mb, dir)})
		}
	}
	slices.SortStableFunc(slots, func(a, b timed) int { return cmp.Compare(a.slot, b.slot) })
	list := make([]Action, len(slots))
	for i, s := range slots {
		list[i] = s.a
	}
	return list
}
