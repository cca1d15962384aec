package kinds

import "trainsim/schedule"

// gpipeKinds are the fill-drain schedules: all forwards, then all backwards.
func gpipeKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "gpipe", Aliases: []string{"ScheduleGPipe", "f-then-b", "afab", "fill-drain"},
			Summary:    "all forwards, then all backwards in the same order; peak memory grows with m",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, Chunks: 1, Fill: fillGPipe,
		},
		{
			Name:       "gpipe-lifo",
			Summary:    "GPipe as drawn in its paper: backwards in reverse micro-batch order",
			Constraint: "any p, m; one chunk a rank", FixedChunks: true, Chunks: 1, Fill: fillGPipe,
		},
	}
}

func fillGPipe(req *schedule.Request, p *schedule.Program) error {
	lifo := req.Kind.Name == "gpipe-lifo"
	m := req.Microbatches
	for r := range p.Lists {
		list := make([]schedule.Action, 0, 2*m)
		for mb := range m {
			list = append(list, schedule.Forward.At(mb, 0))
		}
		for j := range m {
			mb := j
			if lifo {
				mb = m - 1 - j
			}
			list = append(list, schedule.Backward.At(mb, 0))
		}
		p.Lists[r] = list
	}
	return nil
}
