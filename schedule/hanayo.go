package schedule

import "fmt"

// buildHanayo builds a wave schedule by list scheduling with F = 1 and B = 2:
// each rank that is free takes the backward of the oldest micro-batch that is
// ready, else the forward of the deepest stage.
func buildHanayo(k *Kind, o Options) (*Program, error) {
	if o.VirtualStages%2 != 0 {
		return nil, countError(k.Name, "virtual stages", o.VirtualStages, "two for each wave", func(x int) bool { return x%2 == 0 })
	}
	p := newProgram(k.Name, o, o.VirtualStages, Wave)
	h := newHanayo(p)
	for left := 2 * o.Ranks * o.VirtualStages * o.Microbatches; left > 0; h.now++ {
		for r := range p.Lists {
			if h.busy[r] > h.now {
				continue
			}
			if a, ok := h.pick(r); ok {
				h.run(r, a)
				left--
			}
		}
		if h.now > 4*len(h.forward)+4*o.Ranks {
			return nil, fmt.Errorf("schedule %s: no progress", k.Name)
		}
	}
	return p, nil
}

// hanayo is the state of the list scheduler.
type hanayo struct {
	p    *Program
	w    *wiring
	now  int
	busy []int // by rank: free from here on
	// forward and backward hold the end of each cell's pass, 0 before it ran.
	forward, backward []int
	// next forward and backward micro-batch of each chunk of each rank; the
	// micro-batches of a stage go in order.
	nextF, nextB []int
}

func newHanayo(p *Program) *hanayo {
	w := newWiring(p)
	n := p.Ranks * p.Chunks
	return &hanayo{p: p, w: w, busy: make([]int, p.Ranks), forward: make([]int, w.cells), backward: make([]int, w.cells),
		nextF: make([]int, n), nextB: make([]int, n)}
}

// ready reports whether an action's input has arrived.
func (h *hanayo) ready(slot int, a Action) bool {
	cell, _, waits := h.w.input(slot, a)
	if a.Op == Forward {
		return !waits || h.ended(h.forward, cell)
	}
	return h.ended(h.forward, h.w.base[slot]+int(a.Microbatch)) && (!waits || h.ended(h.backward, cell))
}

func (h *hanayo) ended(ends []int, cell int) bool { return ends[cell] > 0 && ends[cell] <= h.now }

// pick chooses among the ready actions of a rank.
func (h *hanayo) pick(r int) (best Action, ok bool) {
	for chunk := range h.p.Chunks {
		a := act(Backward, h.nextB[r*h.p.Chunks+chunk], chunk)
		if int(a.Microbatch) < h.p.Microbatches && h.ready(h.w.slot(r, a), a) && (!ok || a.Microbatch < best.Microbatch) {
			best, ok = a, true
		}
	}
	for chunk := h.p.Chunks - 1; chunk >= 0 && !ok; chunk-- {
		a := act(Forward, h.nextF[r*h.p.Chunks+chunk], chunk)
		if int(a.Microbatch) < h.p.Microbatches && h.ready(h.w.slot(r, a), a) {
			best, ok = a, true
		}
	}
	return best, ok
}

func (h *hanayo) run(r int, a Action) {
	slot := h.w.slot(r, a)
	cell := h.w.base[slot] + int(a.Microbatch)
	h.p.Lists[r] = append(h.p.Lists[r], a)
	if a.Op == Forward {
		h.nextF[slot]++
		h.busy[r] = h.now + 1
		h.forward[cell] = h.busy[r]
		return
	}
	h.nextB[slot]++
	h.busy[r] = h.now + 2
	h.backward[cell] = h.busy[r]
}
