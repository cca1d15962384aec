package kinds

import "trainsim/schedule"

// dualpipeKinds are DeepSeek's schedules of overlapped forward-backward pairs.
func dualpipeKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "dualpipe",
			Summary: "micro-batches enter at both ends, steady F and B run as overlapped pairs; two weight " +
				"copies (DeepSeek-V3)",
			Constraint: "p even, m even, m >= 2p; two directions a rank", FixedChunks: true, Chunks: 2,
			Placement: schedule.Bidirectional, Check: checkDualPipe, Fill: fillDualPipe,
		},
		{
			Name: "dualpipev", Aliases: []string{"ScheduleDualPipeV", "cut-in-half"},
			Summary:    "DualPipe folded at its middle: p ranks, 2p stages, one weight copy",
			Constraint: "m >= 2p; two chunks a rank", FixedChunks: true, Chunks: 2,
			Placement: schedule.Wave, Check: checkDualPipeV, Fill: fillDualPipeV,
		},
	}
}

func checkDualPipe(req *schedule.Request) error {
	ranks, m := req.Ranks, req.Microbatches
	if ranks%2 != 0 {
		return req.Refuse("ranks", ranks, "even: a rank shares its two stages with the one opposite",
			func(x int) bool { return x%2 == 0 })
	}
	if m%2 != 0 || m < 2*ranks {
		return req.Refuse("microbatches", m, "even, and at least two for each rank",
			func(x int) bool { return x%2 == 0 && x >= 2*ranks })
	}
	return nil
}

func fillDualPipe(req *schedule.Request, p *schedule.Program) error {
	ranks, m := req.Ranks, req.Microbatches
	for r := range p.Lists {
		d := &dualList{q: ranks / 2, h: min(r, ranks-1-r), n: m / 2, swap: r >= ranks/2}
		p.Lists[r] = d.build()
	}
	return nil
}

func checkDualPipeV(req *schedule.Request) error {
	return req.AtLeast("microbatches", req.Microbatches, 2*req.Ranks, "two for each rank")
}

func fillDualPipeV(req *schedule.Request, p *schedule.Program) error {
	for r := range p.Lists {
		d := &dualList{q: req.Ranks, h: r, n: req.Microbatches}
		p.Lists[r] = d.build()
	}
	return nil
}

// dualList builds one rank's list. Phase 0 is the direction that enters on
// this rank's half of the pipe, phase 1 the other; with swap the chunks'
// numbers are exchanged, as on the second half of the ranks.
type dualList struct {
	q    int // ranks of a half
	h    int // distance from the end of the pipe
	n    int // micro-batches of a direction
	swap bool

	list    []schedule.Action
	next    [4][2]int         // next micro-batch of F (0) and of backwards (Backward), by phase
	pending []schedule.Action // weight gradients put off, first in, first out
}

func (d *dualList) chunk(phase int) int {
	if d.swap {
		return 1 - phase
	}
	return phase
}

func (d *dualList) forward(phase int) {
	d.list = append(d.list, schedule.Forward.At(d.next[schedule.Forward][phase], d.chunk(phase)))
	d.next[schedule.Forward][phase]++
}

// backward appends a fused backward, or with delay the input gradient alone
// and keeps its weight gradient for later.
func (d *dualList) backward(phase int, delay bool) {
	a := schedule.Backward.At(d.next[schedule.Backward][phase], d.chunk(phase))
	d.next[schedule.Backward][phase]++
	if delay {
		d.pending = append(d.pending, withOp(a, schedule.BackwardWeight))
		a.Op = schedule.BackwardInput
	}
	d.list = append(d.list, a)
}

func (d *dualList) weight() {
	d.list = append(d.list, d.pending[0])
	d.pending = d.pending[1:]
}

// pair appends an overlapped forward and backward.
func (d *dualList) pair(forward, backward int) {
	d.forward(forward)
	d.list[len(d.list)-1].Pair = true
	d.backward(backward, false)
}

// build runs through the eight parts of the schedule.
func (d *dualList) build() []schedule.Action {
	d.list = make([]schedule.Action, 0, 6*d.n)
	rest := d.q - d.h - 1
	for range 2 * rest {
		d.forward(0)
	}
	for range d.h + 1 {
		d.forward(0)
		d.forward(1)
	}
	for range rest {
		d.backward(1, true)
		d.weight()
		d.forward(1)
	}
	d.steady()
	for range rest {
		d.backward(1, false)
		d.pair(1, 0)
	}
	d.drain()
	for range rest {
		d.weight()
		d.backward(0, true)
	}
	for range d.h + 1 {
		d.weight()
	}
	return d.list
}

// steady appends the pairs of the middle part. On the middle ranks the very
// first pair runs as its two halves, as its backward needs that forward's turn.
func (d *dualList) steady() {
	for i := range d.n - 2*d.q + d.h + 1 {
		if i == 0 && d.h == d.q-1 {
			d.forward(0)
			d.backward(1, false)
		} else {
			d.pair(0, 1)
		}
		d.pair(1, 0)
	}
}

// drain appends the last backwards of both phases; half-way weight gradients
// begin to be put off, so that they fill the bubble at the end.
func (d *dualList) drain() {
	half := (d.h + 1) / 2
	delay := false
	for j := range d.h + 1 {
		if j == half && d.h%2 == 1 {
			delay = true
		}
		d.backward(1, delay)
		if j == half && d.h%2 == 0 {
			delay = true
		}
		d.backward(0, delay)
	}
}
