package kinds

import (
	"fmt"

	"trainsim/schedule"
)

// hanayoKinds is Hanayo's wave schedule.
func hanayoKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "hanayo", Aliases: []string{"hanayo-greedy", "wave"},
			Summary: "waves over the ranks, v chunks for v/2 waves, ordered by a list scheduler (backwards " +
				"first, not the paper's own order)",
			Constraint: "any p, m; v even", Chunks: 2,
			Placement: schedule.Wave, Check: checkHanayo, Fill: fillHanayo,
		},
	}
}

func checkHanayo(req *schedule.Request) error {
	if req.VirtualStages%2 != 0 {
		return req.Refuse("virtual stages", req.VirtualStages, "two for each wave",
			func(x int) bool { return x%2 == 0 })
	}
	return nil
}

// fillHanayo orders a wave schedule by list scheduling with F = 1 and B = 2:
// each rank that is free takes the backward of the oldest micro-batch that is
// ready, else the forward of the deepest stage.
func fillHanayo(req *schedule.Request, p *schedule.Program) error {
	h := newListScheduler(p)
	for left := 2 * req.Ranks * req.VirtualStages * req.Microbatches; left > 0; h.now++ {
		if err := req.Err(); err != nil {
			return err
		}
		for r := range p.Lists {
			if h.busy[r] > h.now {
				continue
			}
			if a, ok := h.pick(r); ok {
				h.run(r, a)
				left--
			}
		}
		if h.now > 4*p.Stages()*p.Microbatches+4*req.Ranks {
			return fmt.Errorf("schedule %s: no progress", req.Kind.Name)
		}
	}
	return nil
}

// listScheduler gives every free rank its next action, slot by slot.
type listScheduler struct {
	p    *schedule.Program
	now  int
	busy []int // by rank: free from here on
	// forward and backward hold the end of each micro-batch's pass through a
	// stage, in order; those that have not run yet are missing.
	forward, backward [][]int
}

func newListScheduler(p *schedule.Program) *listScheduler {
	return &listScheduler{p: p, busy: make([]int, p.Ranks), forward: make([][]int, p.Stages()),
		backward: make([][]int, p.Stages())}
}

// pick chooses among the ready actions of a rank. The micro-batches of a stage
// go in order, so that each chunk has one candidate of either direction.
func (h *listScheduler) pick(r int) (best schedule.Action, ok bool) {
	for chunk := range h.p.Chunks {
		mb := len(h.backward[h.p.Stage(r, chunk)])
		if h.backwardReady(h.p.Stage(r, chunk), mb) && (!ok || mb < int(best.Microbatch)) {
			best, ok = schedule.Backward.At(mb, chunk), true
		}
	}
	for chunk := h.p.Chunks - 1; chunk >= 0 && !ok; chunk-- {
		mb := len(h.forward[h.p.Stage(r, chunk)])
		if h.forwardReady(h.p.Stage(r, chunk), mb) {
			best, ok = schedule.Forward.At(mb, chunk), true
		}
	}
	return best, ok
}

func (h *listScheduler) forwardReady(stage, mb int) bool {
	return mb < h.p.Microbatches && (stage == 0 || h.ended(h.forward[stage-1], mb))
}

func (h *listScheduler) backwardReady(stage, mb int) bool {
	return mb < h.p.Microbatches && h.ended(h.forward[stage], mb) &&
		(stage == h.p.Stages()-1 || h.ended(h.backward[stage+1], mb))
}

func (h *listScheduler) ended(ends []int, mb int) bool { return mb < len(ends) && ends[mb] <= h.now }

func (h *listScheduler) run(r int, a schedule.Action) {
	stage := h.p.Stage(r, int(a.Chunk))
	h.p.Lists[r] = append(h.p.Lists[r], a)
	if a.Op == schedule.Forward {
		h.busy[r] = h.now + 1
		h.forward[stage] = append(h.forward[stage], h.busy[r])
		return
	}
	h.busy[r] = h.now + 2
	h.backward[stage] = append(h.backward[stage], h.busy[r])
}
