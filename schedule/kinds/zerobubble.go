package kinds

import "trainsim/schedule"

// zeroBubbleKinds are the zero-bubble schedules with a fixed order on looped chunks.
func zeroBubbleKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "zb-h1", Aliases: []string{"zb1p"},
			Summary:    "1F1B with split backwards, W delayed by r: a third of the bubble at the memory of 1F1B",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, Chunks: 1, Fill: fillZBH,
		},
		{
			Name: "zb-h2", Aliases: []string{"zb2p"},
			Summary:    "zb-h1 with twice the warm-up and delay: no bubble between steps for twice the memory",
			Constraint: "any p, m (zero only from m = 2p-1); one chunk a rank", FixedChunks: true, Chunks: 1,
			Fill: fillZBH,
		},
		{
			Name:       "zb-h1-light",
			Summary:    "zb-h1 with W newest first and adjacent I, W fused into B",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, Chunks: 1, Fill: fillZBLight,
		},
		{
			Name: "interleaved-zb", Aliases: []string{"ScheduleInterleavedZeroBubble", "InterleavedZeroBubble"},
			Summary:    "interleaved with split backwards and half the warm-up",
			Constraint: "m a multiple of max(1, m/p)", Chunks: 2, Check: checkInterleavedZB, Fill: fillInterleavedZB,
		},
	}
}

func fillZBH(req *schedule.Request, p *schedule.Program) error {
	factor := 1
	if req.Kind.Name == "zb-h2" {
		factor = 2
	}
	forwards := depthFirst(req.Microbatches, 1, req.Microbatches)
	backwards := backwardOrder(forwards, 1)
	for r := range p.Lists {
		p.Lists[r] = splitBackward(forwards, backwards, factor*(req.Ranks-1-r), factor*r)
	}
	return nil
}

// checkInterleavedZB takes torch's group size and no other.
func checkInterleavedZB(req *schedule.Request) error {
	n := torchGroup(req.Ranks, req.Microbatches)
	if n == 0 {
		req.System = schedule.Torch // Megatron's group sizes are no way out here
		return indivisible(req)
	}
	if req.GroupSize != 0 && req.GroupSize != n {
		return torchGroupError(req, req.GroupSize)
	}
	req.GroupSize = n
	return nil
}

func fillInterleavedZB(req *schedule.Request, p *schedule.Program) error {
	n := req.GroupSize
	p.GroupSize = n
	forwards := depthFirst(req.Microbatches, req.VirtualStages, n)
	backwards := backwardOrder(forwards, req.VirtualStages)
	for r := range p.Lists {
		p.Lists[r] = splitBackward(forwards, backwards, req.Ranks-1-r+(req.VirtualStages-1)*n, r)
	}
	return nil
}

// splitBackward returns warm forwards, then a forward (while there are any)
// and an input gradient in turn; from the delay-th on each input gradient is
// followed by the oldest weight gradient, and the rest of those come last.
func splitBackward(forwards, backwards []schedule.Action, warm, delay int) []schedule.Action {
	list := make([]schedule.Action, 0, 3*len(forwards))
	warm = min(len(forwards), warm)
	list = append(list, forwards[:warm]...)
	done := 0
	for i, b := range backwards {
		if warm+i < len(forwards) {
			list = append(list, forwards[warm+i])
		}
		list = append(list, withOp(b, schedule.BackwardInput))
		if i >= delay {
			list = append(list, withOp(backwards[done], schedule.BackwardWeight))
			done++
		}
	}
	for _, b := range backwards[done:] {
		list = append(list, withOp(b, schedule.BackwardWeight))
	}
	return list
}

func withOp(a schedule.Action, op schedule.Op) schedule.Action {
	a.Op = op
	return a
}

func fillZBLight(req *schedule.Request, p *schedule.Program) error {
	for r := range p.Lists {
		p.Lists[r] = lightList(req.Microbatches, req.Ranks-1-r, r)
	}
	return nil
}

// lightList returns rank r's list of zb-h1-light. The weight gradient that
// follows an input gradient is always that of the same micro-batch, so the two
// fuse, but not in the cool-down of a rank that has others waiting upstream.
func lightList(m, warm, r int) []schedule.Action {
	warm = min(m, warm)
	list := make([]schedule.Action, 0, 3*m)
	for mb := range warm {
		list = append(list, schedule.Forward.At(mb, 0))
	}
	for mb := range m {
		if warm+mb < m {
			list = append(list, schedule.Forward.At(warm+mb, 0))
		}
		switch {
		case mb < r:
			list = append(list, schedule.BackwardInput.At(mb, 0))
		case r == 0 || warm+mb+1 < m:
			list = append(list, schedule.Backward.At(mb, 0))
		default:
			list = append(list, schedule.BackwardInput.At(mb, 0), schedule.BackwardWeight.At(mb, 0))
		}
	}
	for mb := min(r, m) - 1; mb >= 0; mb-- {
		list = append(list, schedule.BackwardWeight.At(mb, 0))
	}
	return list
}
