package schedule

import "context"

// Result holds the times of a program under idealised costs, in the unit of
// the costs, and the counts that follow from its order alone.
type Result struct {
	Makespan float64     // first start to last end over all ranks
	Work     float64     // busy time of the busiest rank; equal for all ranks of equal stages
	Start    [][]float64 // of each action of each list; both halves of a pair alike
	End      [][]float64
	Idle     []float64 // makespan less busy time, for each rank
	Span     []float64 // last end less first start, for each rank

	// Peak is the most chunk activations that a rank keeps at once from F to
	// the end of W (or B); PeakInput counts to the end of I (or B), where only
	// the operands of the weight gradient are left.
	Peak, PeakInput []int
	// Messages are the sends of each rank to other ranks: activations
	// forwards, gradients backwards.
	Messages [][2]int
	// WeightVersions is the number of weight versions that each rank keeps at
	// once: 1 for a synchronous schedule.
	WeightVersions []int
}

// Bubble returns makespan less work: what a step with a barrier at the
// optimizer loses.
func (r *Result) Bubble() float64 { return r.Makespan - r.Work }

// BubbleOverIdeal returns the bubble as a share of the work, as the GPipe,
// PipeDream and Megatron papers state it; 0 without work.
func (r *Result) BubbleOverIdeal() float64 { return share(r.Bubble(), r.Work) }

// BubbleOverTotal returns the bubble as a share of the makespan, the "bubble
// rate" of Chimera and of the zero-bubble schedules; 0 without work.
func (r *Result) BubbleOverTotal() float64 { return share(r.Bubble(), r.Makespan) }

// SpanBubble returns the longest rank's span less the work: what a rank loses
// when it may start its next step without waiting for the others
// (post-validation of the optimizer step in the zero-bubble papers).
func (r *Result) SpanBubble() float64 {
	longest := 0.0
	for _, s := range r.Span {
		longest = max(longest, s)
	}
	return longest - r.Work
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// Execute checks the program and runs it under costs: every rank in order, one
// action at a time, an action as soon as its inputs are there. Output for
// another rank arrives Latency after the action ends; the sender is not held
// up and links have no limit. It gives up with the context's error when that is
// done.
func (p *Program) Execute(ctx context.Context, costs Costs) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := costs.Validate(p.Stages()); err != nil {
		return nil, err
	}
	r := &Result{Start: make([][]float64, p.Ranks), End: make([][]float64, p.Ranks)}
	if err := p.times(ctx, newWiring(p), costs, r); err != nil {
		return nil, err
	}
	p.summarise(r)
	p.countPeaks(r)
	p.countMessages(r)
	r.WeightVersions = p.liveVersions()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// clock is the state of a timed replay.
type clock struct {
	w        *wiring
	costs    Costs
	stage    []StageCost  // by slot
	ended    [2][]float64 // end of F, and of I or B, by cell; -1 before
	free     []float64    // by rank
	position []int        // by rank
}

// times fills in the start and end of every action. The program has passed
// Check, so the replay reaches the end of every list.
func (p *Program) times(ctx context.Context, w *wiring, costs Costs, r *Result) error {
	c := newClock(p, w, costs)
	for rank, list := range p.Lists {
		r.Start[rank], r.End[rank] = make([]float64, len(list)), make([]float64, len(list))
	}
	work := newWorkList(p.Ranks)
	turns := 0
	for rank, ok := work.pop(); ok; rank, ok = work.pop() {
		if turns++; turns%turnsBetweenLooks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c.advance(rank, p.Lists[rank], r, work)
	}
	return ctx.Err()
}

// turnsBetweenLooks is how many turns of ranks pass between two looks at the
// context: some milliseconds.
const turnsBetweenLooks = 1 << 14

func newClock(p *Program, w *wiring, costs Costs) *clock {
	c := &clock{w: w, costs: costs, stage: make([]StageCost, p.Ranks*p.Chunks),
		free: make([]float64, p.Ranks), position: make([]int, p.Ranks)}
	for i := range c.stage {
		c.stage[i] = costs.Stage(p.Stage(i/p.Chunks, i%p.Chunks))
	}
	for k := range c.ended {
		c.ended[k] = make([]float64, w.cells)
		for i := range c.ended[k] {
			c.ended[k][i] = -1
		}
	}
	return c
}

// advance runs a rank's list as far as its inputs allow.
func (c *clock) advance(rank int, list []Action, r *Result, work *workList) {
	i := c.position[rank]
	for i < len(list) {
		n := unit(list, i)
		start, ok := c.start(rank, list[i:i+n])
		if !ok {
			break
		}
		end := start + c.duration(rank, list[i:i+n])
		for j := i; j < i+n; j++ {
			r.Start[rank][j], r.End[rank][j] = start, end
			c.finish(rank, list[j], end, work)
		}
		c.free[rank] = end
		i += n
	}
	c.position[rank] = i
}

// start returns when the actions, which run together, can start.
func (c *clock) start(rank int, actions []Action) (at float64, ok bool) {
	at = c.free[rank]
	for _, a := range actions {
		cell, from, waits := c.w.input(c.w.slot(rank, a), a)
		if !waits {
			continue
		}
		arrival := c.ended[direction(a.Op)][cell]
		if arrival < 0 {
			return 0, false
		}
		if int(from) != rank {
			arrival += c.costs.Latency
		}
		at = max(at, arrival)
	}
	return at, true
}

func (c *clock) duration(rank int, actions []Action) float64 {
	if len(actions) > 1 && c.costs.Pair > 0 {
		return c.costs.Pair
	}
	sum := 0.0
	for _, a := range actions {
		sum += c.stage[c.w.slot(rank, a)].Of(a.Op)
	}
	return sum
}

func (c *clock) finish(rank int, a Action, end float64, work *workList) {
	if a.Op == BackwardWeight {
		return
	}
	slot := c.w.slot(rank, a)
	c.ended[direction(a.Op)][c.w.base[slot]+int(a.Microbatch)] = end
	if to := c.w.output(slot, a); to >= 0 && int(to) != rank {
		work.push(to)
	}
}

// direction is 0 for what moves down the pipe and 1 for what moves up.
func direction(op Op) int {
	if op == Forward {
		return 0
	}
	return 1
}
