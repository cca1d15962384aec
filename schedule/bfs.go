package schedule

// bfsKinds are the breadth-first schedules on several chunks a rank.
func bfsKinds() []Kind {
	return []Kind{
		{
			Name: "looped-bfs", Aliases: []string{"ScheduleLoopedBFS", "bfs", "breadth-first"},
			Summary:    "each chunk runs all its micro-batches at a time: fewest FSDP gathers, memory as GPipe; backwards descending, as torch",
			Constraint: "any p, m, v", chunks: 2, build: buildBFS,
		},
		{
			Name:       "looped-bfs-fifo",
			Summary:    "looped-bfs with the backwards in the order of the forwards",
			Constraint: "any p, m, v", chunks: 2, build: buildBFS,
		},
	}
}

func buildBFS(k *Kind, o Options) (*Program, error) {
	p := newProgram(k.Name, o, o.VirtualStages, Loop)
	m, v := o.Microbatches, o.VirtualStages
	for r := range p.Lists {
		list := make([]Action, 0, 2*m*v)
		for c := range v {
			for mb := range m {
				list = append(list, act(Forward, mb, c))
			}
		}
		for c := v - 1; c >= 0; c-- {
			for j := range m {
				mb := m - 1 - j
				if k.Name == "looped-bfs-fifo" {
					mb = j
				}
				list = append(list, act(Backward, mb, c))
			}
		}
		p.Lists[r] = list
	}
	return p, nil
}
