package schedule

// vKinds are the schedules on two chunks a rank that go down the ranks and
// back up (V placement).
func vKinds() []Kind {
	return []Kind{
		{
			Name: "zb-v", Aliases: []string{"zbv", "ScheduleZBVZeroBubble", "ZBVZeroBubble"},
			Summary:    "zero bubble on the V placement at the memory of 1F1B, as torch writes it",
			Constraint: "any p, m; two chunks a rank", FixedChunks: true, chunks: 2, build: buildZBV,
		},
	}
}
