package schedule

// pipedreamKinds are the asynchronous schedules, which never flush the pipe.
func pipedreamKinds() []Kind {
	return []Kind{
		{
			Name:       "pipedream",
			Summary:    "1F1B without a flush, an update after each backward; p-r stashed weight versions on rank r",
			Constraint: "any p; m mini-batches in one run; one chunk a rank", FixedChunks: true, chunks: 1, build: buildPipeDream,
		},
		{
			Name:       "pipedream-2bw",
			Summary:    "1F1B without a flush, gradients accumulated over m micro-batches; two weight versions",
			Constraint: "m >= p; one chunk a rank", FixedChunks: true, chunks: 1, build: buildPipeDream2BW,
		},
	}
}

// buildPipeDream runs m mini-batches. F of mini-batch k on rank r reads the
// version that its latest finished backward left, and B uses the same one.
func buildPipeDream(k *Kind, o Options) (*Program, error) {
	return newAsync(k, o, o.Microbatches, func(rank, mb int) int {
		return max(0, mb-(o.Ranks-1-rank))
	}, func(rank int) int { return min(o.Microbatches, o.Ranks-rank) })
}

// buildPipeDream2BW runs Batches batches of m micro-batches, each with the
// weights from before the batch that precedes it.
func buildPipeDream2BW(k *Kind, o Options) (*Program, error) {
	if err := atLeast(k.Name, "microbatches", o.Microbatches, o.Ranks, "one for each rank, so that two weight versions are enough"); err != nil {
		return nil, err
	}
	if o.Batches == 0 {
		o.Batches = 2
	}
	p, err := newAsync(k, o, o.Microbatches*o.Batches, func(_, mb int) int {
		return max(0, mb/o.Microbatches-1)
	}, func(int) int { return 2 })
	if err == nil {
		p.Batches = o.Batches
	}
	return p, err
}

// newAsync returns 1F1B over all n micro-batches of a run with the weight
// version of each micro-batch and the number of versions kept, by rank.
func newAsync(k *Kind, o Options, n int, version func(rank, mb int) int, live func(rank int) int) (*Program, error) {
	p := newProgram(k.Name, o, 1, Loop)
	p.Async = true
	p.Versions = make([][]int32, o.Ranks)
	p.WeightVersions = make([]int, o.Ranks)
	for r := range p.Lists {
		p.Lists[r] = oneFOneB(n, o.Ranks-1-r)
		p.WeightVersions[r] = live(r)
		p.Versions[r] = make([]int32, n)
		for mb := range p.Versions[r] {
			p.Versions[r][mb] = int32(version(r, mb))
		}
	}
	return p, nil
}
