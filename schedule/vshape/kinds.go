package vshape

import "trainsim/schedule"

// Kinds returns the schedules on the V placement, in the order in which they
// are listed.
func Kinds() []schedule.Kind {
	return []schedule.Kind{
		{
			Name: "zb-v", Aliases: []string{"ScheduleZBVZeroBubble", "ZBVZeroBubble"},
			Summary:    "zero bubble on the V placement at the memory of 1F1B, as torch writes it",
			Constraint: "any p, m; two chunks a rank", FixedChunks: true, Chunks: 2,
			Placement: schedule.Wave, Fill: fillZBV,
		},
		{
			Name: "zb-v-auto", Aliases: []string{"zbv-greedy"},
			Summary:    "greedy order on the V placement for given costs, at the memory of 1F1B",
			Constraint: "any p, m; cap at least 2p; two chunks a rank", FixedChunks: true, Chunks: 2,
			Placement: schedule.Wave, ByCosts: true, Check: checkZBVAuto, Fill: fillZBVAuto,
		},
		{
			Name: "1f1b-v", Aliases: []string{"v1f1b"},
			Summary:    "1F1B on the V placement with fused backwards",
			Constraint: "any p, m; two chunks a rank", FixedChunks: true, Chunks: 2,
			Placement: schedule.Wave, Fill: fillV1F1B,
		},
		{
			Name:       "v-half",
			Summary:    "controllable memory on the V placement: half the activations of 1F1B",
			Constraint: "any p, m; two chunks a rank", FixedChunks: true, Chunks: 2,
			Placement: schedule.Wave, Fill: fillVControl,
		},
		{
			Name:       "v-min",
			Summary:    "controllable memory on the V placement: a third of the activations of 1F1B",
			Constraint: "any p, m; two chunks a rank", FixedChunks: true, Chunks: 2,
			Placement: schedule.Wave, Fill: fillVControl,
		},
		{
			Name:       "v-adaptive",
			Summary:    "search over building blocks on the V placement under a cap on live activations (default 2p)",
			Constraint: "2 to 16 ranks, any m; two chunks a rank", FixedChunks: true, Chunks: 2,
			Placement: schedule.Wave, ByCosts: true, Check: checkVAdaptive, Fill: fillVAdaptive,
		},
	}
}
