package schedule

// oneFOneBKinds are the schedules that alternate one forward and one backward
// on one chunk a rank.
func oneFOneBKinds() []Kind {
	return []Kind{
		{
			Name: "1f1b", Aliases: []string{"Schedule1F1B", "pipedream-flush", "dapple", "non-interleaved", "without-interleaving", "TrainSchedule"},
			Summary:    "warm-up of p-1-r forwards, then one forward and one backward in turn; peak min(m, p-r)",
			Constraint: "any p, m (torch: m >= p); one chunk a rank", FixedChunks: true, chunks: 1, build: buildOneFOneB,
		},
		{
			Name: "eager-1f1b", Aliases: []string{"1f1b-overlap-friendly", "early-1f1b"},
			Summary:    "1F1B with twice the warm-up: up to twice the memory for tolerance to latency",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, chunks: 1, build: buildOneFOneB,
		},
	}
}

func buildOneFOneB(k *Kind, o Options) (*Program, error) {
	if k.Name == "1f1b" && o.System == Torch {
		if err := atLeast(k.Name, "microbatches", o.Microbatches, o.Ranks, "torch: one micro-batch a rank"); err != nil {
			return nil, err
		}
	}
	factor := 1
	if k.Name == "eager-1f1b" {
		factor = 2
	}
	p := newProgram(k.Name, o, 1, Loop)
	for r := range p.Lists {
		p.Lists[r] = oneFOneB(o.Microbatches, factor*(o.Ranks-1-r))
	}
	return p, nil
}

// oneFOneB returns a rank's list for m micro-batches after a warm-up of warm
// forwards: one forward and one backward in turn, then the rest of the
// backwards.
func oneFOneB(m, warm int) []Action {
	warm = min(m, warm)
	list := make([]Action, 0, 2*m)
	for mb := range warm {
		list = append(list, act(Forward, mb, 0))
	}
	for j := range m - warm {
		list = append(list, act(Forward, warm+j, 0), act(Backward, j, 0))
	}
	for mb := m - warm; mb < m; mb++ {
		list = append(list, act(Backward, mb, 0))
	}
	return list
}
