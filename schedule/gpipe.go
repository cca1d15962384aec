package schedule

// gpipeKinds are the fill-drain schedules: all forwards, then all backwards.
func gpipeKinds() []Kind {
	return []Kind{
		{
			Name: "gpipe", Aliases: []string{"ScheduleGPipe", "f-then-b", "afab", "fill-drain"},
			Summary:    "all forwards, then all backwards in the same order; peak memory grows with m",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, chunks: 1, build: buildGPipe,
		},
		{
			Name:       "gpipe-lifo",
			Summary:    "GPipe as drawn in its paper: backwards in reverse micro-batch order",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, chunks: 1, build: buildGPipe,
		},
	}
}

func buildGPipe(k *Kind, o Options) (*Program, error) {
	p := newProgram(k.Name, o, 1, Loop)
	lifo := k.Name == "gpipe-lifo"
	m := o.Microbatches
	for r := range p.Lists {
		list := make([]Action, 0, 2*m)
		for mb := range m {
			list = append(list, act(Forward, mb, 0))
		}
		for j := range m {
			mb := j
			if lifo {
				mb = m - 1 - j
			}
			list = append(list, act(Backward, mb, 0))
		}
		p.Lists[r] = list
	}
	return p, nil
}

// act returns an unpaired action.
func act(op Op, microbatch, chunk int) Action {
	return Action{Op: op, Chunk: int16(chunk), Microbatch: int32(microbatch)}
}
