package kinds

import "trainsim/schedule"

// breadthFirstKinds are the breadth-first schedules on several chunks a rank.
func breadthFirstKinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "looped-bfs", Aliases: []string{"ScheduleLoopedBFS", "bfs", "breadth-first"},
			Summary: "each chunk runs all its micro-batches at a time: fewest FSDP gathers, memory as GPipe; " +
				"backwards descending, as torch",
			Constraint: "any p, m, v", Chunks: 2, Fill: fillBreadthFirst,
		},
		{
			Name:       "looped-bfs-fifo",
			Summary:    "looped-bfs with the backwards in the order of the forwards",
			Constraint: "any p, m, v", Chunks: 2, Fill: fillBreadthFirst,
		},
	}
}

func fillBreadthFirst(req *schedule.Request, p *schedule.Program) error {
	m, v := req.Microbatches, req.VirtualStages
	for r := range p.Lists {
		list := make([]schedule.Action, 0, 2*m*v)
		for c := range v {
			for mb := range m {
				list = append(list, schedule.Forward.At(mb, c))
			}
		}
		for c := v - 1; c >= 0; c-- {
			for j := range m {
				mb := m - 1 - j
				if req.Kind.Name == "looped-bfs-fifo" {
					mb = j
				}
				list = append(list, schedule.Backward.At(mb, c))
			}
		}
		p.Lists[r] = list
	}
	return nil
}
