package kinds

import "trainsim/schedule"

// oneFOneBKinds are the schedules that alternate one forward and one backward
// on one chunk a rank.
func oneFOneBKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "1f1b", Aliases: []string{"Schedule1F1B", "pipedream-flush", "dapple", "non-interleaved",
				"without-interleaving", "TrainSchedule"},
			Summary:    "warm-up of p-1-r forwards, then one forward and one backward in turn; peak min(m, p-r)",
			Constraint: "any p, m (torch: m >= p); one chunk a rank", FixedChunks: true, Chunks: 1,
			Check: checkOneFOneB, Fill: fillOneFOneB,
		},
		{
			Name: "eager-1f1b", Aliases: []string{"1f1b-overlap-friendly", "early-1f1b"},
			Summary:    "1F1B with twice the warm-up: up to twice the memory for tolerance to latency",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, Chunks: 1, Fill: fillOneFOneB,
		},
	}
}

func checkOneFOneB(req *schedule.Request) error {
	if req.System != schedule.Torch {
		return nil
	}
	return req.AtLeast("microbatches", req.Microbatches, req.Ranks, "torch: one micro-batch a rank")
}

func fillOneFOneB(req *schedule.Request, p *schedule.Program) error {
	factor := 1
	if req.Kind.Name == "eager-1f1b" {
		factor = 2
	}
	for r := range p.Lists {
		p.Lists[r] = oneFOneB(req.Microbatches, factor*(req.Ranks-1-r))
	}
	return nil
}

// oneFOneB returns a rank's list for m micro-batches after a warm-up of warm
// forwards: one forward and one backward in turn, then the rest of the
// backwards.
func oneFOneB(m, warm int) []schedule.Action {
	warm = min(m, warm)
	list := make([]schedule.Action, 0, 2*m)
	for mb := range warm {
		list = append(list, schedule.Forward.At(mb, 0))
	}
	for j := range m - warm {
		list = append(list, schedule.Forward.At(warm+j, 0), schedule.Backward.At(j, 0))
	}
	for mb := m - warm; mb < m; mb++ {
		list = append(list, schedule.Backward.At(mb, 0))
	}
	return list
}
