package kinds

import (
	"fmt"

	"trainsim/schedule"
)

// checkGrouped chooses the smallest group if none is asked for.
func checkGrouped(req *schedule.Request) error {
	if err := req.Costs.Validate(req.Ranks * req.VirtualStages); err != nil {
		return err
	}
	low := smallestGroup(req)
	if req.GroupSize == 0 {
		req.GroupSize = low
	}
	if g := req.GroupSize; g < low || g > req.Ranks {
		rule := fmt.Sprintf("between %d, below which gradients come back too late, and the %d ranks", low, req.Ranks)
		return req.Refuse("group size", g, rule, func(x int) bool { return x >= low && x <= req.Ranks })
	}
	return nil
}

// fillGrouped lays out the grouped interleaved schedule of PipeOffload: groups
// of G micro-batches run through all chunks, a forward, an input and a weight
// gradient in turn. The smaller the group, the fewer activations are alive.
func fillGrouped(req *schedule.Request, p *schedule.Program) error {
	g := req.GroupSize
	p.GroupSize = g
	padded := (req.Microbatches + g - 1) / g * g
	forwards := depthFirst(padded, req.VirtualStages, g)
	backwards := backwardOrder(forwards, req.VirtualStages)
	for r := range p.Lists {
		list := splitBackward(forwards, backwards, req.Ranks-1-r+(req.VirtualStages-1)*g, 0)
		p.Lists[r] = dropBeyond(list, req.Microbatches)
	}
	return nil
}

// smallestGroup returns the fewest micro-batches whose work on the slowest
// rank covers the way down, or back up, through all ranks: at least half the
// ranks.
func smallestGroup(req *schedule.Request) int {
	var slowest, forward, backward float64
	for r := range req.Ranks {
		var f, i, w float64
		for c := range req.VirtualStages {
			s := req.Costs.Stage(c*req.Ranks + r)
			f, i, w = f+s.Forward, i+s.BackwardInput, w+s.BackwardWeight
		}
		slowest = max(slowest, f+i+w)
		forward, backward = forward+f, backward+i
	}
	low := (req.Ranks + 1) / 2
	for low < req.Ranks && float64(float64(low)*slowest) < max(forward, backward) {
		low++
	}
	return low
}

// dropBeyond leaves out the actions of micro-batches that only fill a group.
func dropBeyond(list []schedule.Action, m int) []schedule.Action {
	kept := list[:0]
	for _, a := range list {
		if int(a.Microbatch) < m {
			kept = append(kept, a)
		}
	}
	return kept
}
