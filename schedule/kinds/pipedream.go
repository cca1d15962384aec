package kinds

import "trainsim/schedule"

// pipedreamKinds are the asynchronous schedules, which never flush the pipe.
func pipedreamKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name:       "pipedream",
			Summary:    "1F1B without a flush, an update after each backward; p-r stashed weight versions on rank r",
			Constraint: "any p; m mini-batches in one run; one chunk a rank", FixedChunks: true, Chunks: 1, Generate: buildPipeDream,
		},
		{
			Name:       "pipedream-2bw",
			Summary:    "1F1B without a flush, gradients accumulated over m micro-batches; two weight versions",
			Constraint: "m >= p; one chunk a rank", FixedChunks: true, Chunks: 1, Generate: buildPipeDream2BW,
		},
	}
}

// buildPipeDream runs m mini-batches. F of mini-batch k on rank r reads the
// version that its latest finished backward left, and B uses the same one.
func buildPipeDream(req *schedule.Request) (*schedule.Program, error) {
	return withoutFlush(req, 1, func(rank int) int { return min(req.Microbatches, req.Ranks-rank) }), nil
}

// buildPipeDream2BW runs Batches batches of m micro-batches, each with the
// weights from before the batch that precedes it.
func buildPipeDream2BW(req *schedule.Request) (*schedule.Program, error) {
	if err := req.AtLeast("microbatches", req.Microbatches, req.Ranks, "one for each rank, so that two weight versions are enough"); err != nil {
		return nil, err
	}
	batches := req.Batches
	if batches == 0 {
		batches = 2
	}
	return withoutFlush(req, batches, func(int) int { return 2 }), nil
}

// withoutFlush returns 1F1B over all micro-batches of some batches, with the
// number of weight versions that each rank keeps.
func withoutFlush(req *schedule.Request, batches int, versions func(rank int) int) *schedule.Program {
	p := req.Program(1, schedule.Loop)
	p.Async, p.Batches = true, batches
	p.WeightVersions = make([]int, req.Ranks)
	for r := range p.Lists {
		p.Lists[r] = oneFOneB(req.Microbatches*batches, req.Ranks-1-r)
		p.WeightVersions[r] = versions(r)
	}
	return p
}
