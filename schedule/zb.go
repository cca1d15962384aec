package schedule

// zbKinds are the zero-bubble schedules with a fixed order on looped chunks.
func zbKinds() []Kind {
	return []Kind{
		{
			Name: "zb-h1", Aliases: []string{"zb1p"},
			Summary:    "1F1B with split backwards, W delayed by r: a third of the bubble at the memory of 1F1B",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, chunks: 1, build: buildZBH,
		},
		{
			Name: "zb-h2", Aliases: []string{"zb2p"},
			Summary:    "zb-h1 with twice the warm-up and delay: no bubble between steps for twice the memory",
			Constraint: "any p, m (zero only from m = 2p-1); one chunk a rank", FixedChunks: true, chunks: 1, build: buildZBH,
		},
		{
			Name:       "zb-h1-light",
			Summary:    "zb-h1 with W newest first and adjacent I, W fused into B",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, chunks: 1, build: buildZBLight,
		},
		{
			Name: "interleaved-zb", Aliases: []string{"ScheduleInterleavedZeroBubble", "InterleavedZeroBubble"},
			Summary:    "interleaved with split backwards and half the warm-up",
			Constraint: "m a multiple of max(1, m/p)", chunks: 2, build: buildInterleavedZB,
		},
	}
}

func buildZBH(k *Kind, o Options) (*Program, error) {
	factor := 1
	if k.Name == "zb-h2" {
		factor = 2
	}
	p := newProgram(k.Name, o, 1, Loop)
	forwards := depthFirst(o.Microbatches, 1, o.Microbatches)
	backwards := backwardOrder(forwards, 1)
	for r := range p.Lists {
		p.Lists[r] = splitBackward(forwards, backwards, factor*(o.Ranks-1-r), factor*r)
	}
	return p, nil
}

func buildInterleavedZB(k *Kind, o Options) (*Program, error) {
	n := torchGroup(o.Ranks, o.Microbatches)
	if n == 0 {
		o.System = Torch // Megatron's group sizes are no way out here
		return nil, indivisible(k, o)
	}
	if o.GroupSize != 0 && o.GroupSize != n {
		return nil, torchGroupError(k, o, o.GroupSize)
	}
	p := newProgram(k.Name, o, o.VirtualStages, Loop)
	p.GroupSize = n
	forwards := depthFirst(o.Microbatches, o.VirtualStages, n)
	backwards := backwardOrder(forwards, o.VirtualStages)
	for r := range p.Lists {
		p.Lists[r] = splitBackward(forwards, backwards, o.Ranks-1-r+(o.VirtualStages-1)*n, r)
	}
	return p, nil
}

// splitBackward returns warm forwards, then a forward (while there are any)
// and an input gradient in turn; from the delay-th on each input gradient is
// followed by the oldest weight gradient, and the rest of those come last.
func splitBackward(forwards, backwards []Action, warm, delay int) []Action {
	list := make([]Action, 0, 3*len(forwards))
	warm = min(len(forwards), warm)
	list = append(list, forwards[:warm]...)
	done := 0
	for i, b := range backwards {
		if warm+i < len(forwards) {
			list = append(list, forwards[warm+i])
		}
		list = append(list, withOp(b, BackwardInput))
		if i >= delay {
			list = append(list, withOp(backwards[done], BackwardWeight))
			done++
		}
	}
	for _, b := range backwards[done:] {
		list = append(list, withOp(b, BackwardWeight))
	}
	return list
}

func withOp(a Action, op Op) Action {
	a.Op = op
	return a
}

func buildZBLight(k *Kind, o Options) (*Program, error) {
	p := newProgram(k.Name, o, 1, Loop)
	for r := range p.Lists {
		p.Lists[r] = lightList(o.Microbatches, o.Ranks-1-r, r)
	}
	return p, nil
}

// lightList returns rank r's list of zb-h1-light. The weight gradient that
// follows an input gradient is always that of the same micro-batch, so the two
// fuse, but not in the cool-down of a rank that has others waiting upstream.
func lightList(m, warm, r int) []Action {
	warm = min(m, warm)
	list := make([]Action, 0, 3*m)
	for mb := range warm {
		list = append(list, act(Forward, mb, 0))
	}
	for mb := range m {
		if warm+mb < m {
			list = append(list, act(Forward, warm+mb, 0))
		}
		switch {
		case mb < r:
			list = append(list, act(BackwardInput, mb, 0))
		case r == 0 || warm+mb+1 < m:
			list = append(list, act(Backward, mb, 0))
		default:
			list = append(list, act(BackwardInput, mb, 0), act(BackwardWeight, mb, 0))
		}
	}
	for mb := min(r, m) - 1; mb >= 0; mb-- {
		list = append(list, act(BackwardWeight, mb, 0))
	}
	return list
}
