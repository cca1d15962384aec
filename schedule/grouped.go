package schedule

import "fmt"

// buildGrouped builds the grouped interleaved schedule of PipeOffload: groups
// of G micro-batches run through all chunks, a forward, an input and a weight
// gradient in turn. The smaller the group, the fewer activations are alive.
func buildGrouped(k *Kind, o Options) (*Program, error) {
	stages := o.Ranks * o.VirtualStages
	if err := o.Costs.validate(stages); err != nil {
		return nil, err
	}
	low := smallestGroup(o)
	g := o.GroupSize
	if g == 0 {
		g = low
	}
	if g < low || g > o.Ranks {
		rule := fmt.Sprintf("between %d, below which gradients come back too late, and the %d ranks", low, o.Ranks)
		return nil, countError(k.Name, "group size", g, rule, func(x int) bool { return x >= low && x <= o.Ranks })
	}
	p := newProgram(k.Name, o, o.VirtualStages, Loop)
	p.GroupSize = g
	padded := (o.Microbatches + g - 1) / g * g
	forwards := depthFirst(padded, o.VirtualStages, g)
	backwards := backwardOrder(forwards, o.VirtualStages)
	for r := range p.Lists {
		list := splitBackward(forwards, backwards, o.Ranks-1-r+(o.VirtualStages-1)*g, 0)
		p.Lists[r] = dropBeyond(list, o.Microbatches)
	}
	return p, nil
}

// smallestGroup returns the fewest micro-batches whose work on the slowest
// rank covers the way down, or back up, through all ranks: at least half the
// ranks.
func smallestGroup(o Options) int {
	var slowest, forward, backward float64
	for r := range o.Ranks {
		var f, i, w float64
		for c := range o.VirtualStages {
			s := o.Costs.Stage(c*o.Ranks + r)
			f, i, w = f+s.Forward, i+s.BackwardInput, w+s.BackwardWeight
		}
		slowest = max(slowest, f+i+w)
		forward, backward = forward+f, backward+i
	}
	low := (o.Ranks + 1) / 2
	for low < o.Ranks && float64(float64(low)*slowest) < max(forward, backward) {
		low++
	}
	return low
}

// dropBeyond leaves out the actions of micro-batches that only fill a group.
func dropBeyond(list []Action, m int) []Action {
	kept := list[:0]
	for _, a := range list {
		if int(a.Microbatch) < m {
			kept = append(kept, a)
		}
	}
	return kept
}
