package vshape

import (
	"context"
	"fmt"

	"trainsim/schedule"
)

// maxAdaptiveRanks bounds the search over building blocks, whose candidates
// grow with the ranks and whose cost grows with the square of the schedule.
const maxAdaptiveRanks = 16

func checkVAdaptive(req *schedule.Request) error {
	if err := req.Costs.Validate(2 * req.Ranks); err != nil {
		return err
	}
	if req.MemoryCap == 0 {
		req.MemoryCap = 2 * req.Ranks
	}
	if req.Ranks < 2 || req.Ranks > maxAdaptiveRanks {
		rule := fmt.Sprintf("between 2 and %d, as building blocks are searched", maxAdaptiveRanks)
		return req.Refuse("ranks", req.Ranks, rule, func(x int) bool { return x >= 2 && x <= maxAdaptiveRanks })
	}
	return nil
}

// fillVAdaptive searches building blocks on the V placement for the shortest
// schedule whose activations stay under a cap: each block is repeated,
// squeezed, and its warm-up and cool-down reordered.
func fillVAdaptive(req *schedule.Request, p *schedule.Program) error {
	limit := min(2*req.Ranks, req.MemoryCap)
	var best [][]schedule.Action
	shortest := 0.0
	eachBlock(req.Ranks, func(block [][blockKinds]int) bool {
		if req.Err() != nil {
			return false
		}
		g, peak := adaptBlock(req.Ranks, req.Microbatches, block, limit)
		if peak > limit {
			return false
		}
		if g == nil {
			return true
		}
		p.Lists = g.splitLists(req.Microbatches)
		if span, ok := longestSpan(req.Context(), p, req.Costs); ok && (best == nil || span < shortest) {
			best, shortest = p.Lists, span
		}
		return true
	})
	if err := req.Err(); err != nil {
		return err
	}
	if best == nil {
		return fmt.Errorf("schedule %s: no building block for %d ranks and %d micro-batches keeps within %d chunk "+
			"activations; raise the memory cap, at most %d are of use",
			req.Kind.Name, req.Ranks, req.Microbatches, req.MemoryCap, 2*req.Ranks)
	}
	p.Lists = best
	return nil
}

// longestSpan returns the longest rank's span, the quantity that the search
// makes small.
func longestSpan(ctx context.Context, p *schedule.Program, costs schedule.Costs) (span float64, ok bool) {
	r, err := p.Execute(ctx, costs)
	if err != nil {
		return 0, false
	}
	for _, s := range r.Span {
		span = max(span, s)
	}
	return span, true
}

// adaptBlock turns a building block into a schedule of m micro-batches. The
// grid is nil if the block does not lead to one; peak is the most live
// activations, of the block where it is refused for that.
func adaptBlock(p, m int, block [][blockKinds]int, limit int) (*blockGrid, int) {
	padded := max(m, 2*p) // warm-up is only regular with enough micro-batches
	g := newBlockGrid(p, padded, block)
	first := g.limit
	if m == padded && first > limit || first > 2*p {
		return nil, first
	}
	if !g.squeeze(padded) || !g.warmUp(padded) || !g.squeeze(padded) || g.peak() > first {
		return nil, first
	}
	if m < padded {
		peak := g.peak()
		g.dropAbove(m)
		if m <= p && 2*m <= limit {
			g.delayWeights(min(2*p, peak))
		}
		if !g.squeeze(m) {
			return nil, first
		}
		first = g.peak()
		if first > limit {
			return nil, first
		}
	}
	if !g.coolDown(m) {
		return nil, first
	}
	g.fillGaps(m)
	g.relabelWeights()
	if g.peak() > first || !g.complete(m) {
		return nil, min(g.peak(), first)
	}
	return g, g.peak()
}
