package kinds

import "trainsim/schedule"

// pipedreamKinds are the asynchronous schedules, which never flush the pipe.
func pipedreamKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name:       "pipedream",
			Summary:    "1F1B without a flush, an update after each backward; p-r stashed weight versions on rank r",
			Constraint: "any p; m mini-batches in one run; one chunk a rank", FixedChunks: true, Chunks: 1,
			Fill: fillPipeDream,
		},
		{
			Name:       "pipedream-2bw",
			Summary:    "1F1B without a flush, gradients accumulated over m micro-batches; two weight versions",
			Constraint: "m >= p; one chunk a rank", FixedChunks: true, Chunks: 1,
			Check: checkPipeDream2BW, Fill: fillPipeDream2BW,
		},
	}
}

// fillPipeDream runs m mini-batches. F of mini-batch k on rank r reads the
// version that its latest finished backward left, and B uses the same one.
func fillPipeDream(req *schedule.Request, p *schedule.Program) error {
	withoutFlush(p, 1, func(rank int) int { return min(req.Microbatches, req.Ranks-rank) })
	return nil
}

func checkPipeDream2BW(req *schedule.Request) error {
	if req.Batches == 0 {
		req.Batches = 2
	}
	return req.AtLeast("microbatches", req.Microbatches, req.Ranks, "one for each rank, so that two weight versions "+
		"are enough")
}

// fillPipeDream2BW runs Batches batches of m micro-batches, each with the
// weights from before the batch that precedes it.
func fillPipeDream2BW(req *schedule.Request, p *schedule.Program) error {
	withoutFlush(p, req.Batches, func(int) int { return 2 })
	return nil
}

// withoutFlush gives 1F1B over all micro-batches of some batches, with the
// number of weight versions that each rank keeps.
func withoutFlush(p *schedule.Program, batches int, versions func(rank int) int) {
	p.Async, p.Batches = true, batches
	p.WeightVersions = make([]int, p.Ranks)
	for r := range p.Lists {
		p.Lists[r] = oneFOneB(p.Microbatches*batches, p.Ranks-1-r)
		p.WeightVersions[r] = versions(r)
	}
}
