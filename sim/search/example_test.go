package search_test

import (
	"context"
	"fmt"

	"trainsim/scenarios"
	"trainsim/sim/report"
	"trainsim/sim/search"
)

// More micro-batches make a smaller bubble: a sweep over their number.
func Example() {
	axis, err := search.ParseAxis("schedule.microbatches=4..16*2")
	if err != nil {
		panic(err)
	}
	grid, err := search.NewGrid([]report.Axis{axis}, nil)
	if err != nil {
		panic(err)
	}
	if grid.Template, err = scenarios.Open("pp4-1f1b-8"); err != nil {
		panic(err)
	}
	var rows search.Rows
	if err := grid.Run(context.Background(), &rows, search.Options{}); err != nil {
		panic(err)
	}
	for row := range rows.All() {
		fmt.Printf("%s: %s, %.1f %% bubble\n", row.Settings.Label(), row.Outcome, 100*row.Bubble)
	}
	// Output:
	// microbatches=4: ok, 43.0 % bubble
	// microbatches=8: ok, 27.8 % bubble
	// microbatches=16: ok, 16.6 % bubble
}

// The fastest layouts of a small job on one node.
func ExamplePlanner_Plan() {
	base, err := scenarios.LoadWith("ddp8-small-pcie", []string{"schedule.microbatches=2"})
	if err != nil {
		panic(err)
	}
	space := search.NewSpace(base)
	for _, key := range []string{"parallel.tp", "parallel.cp"} {
		if _, err := space.Fix(key, "1"); err != nil {
			panic(err)
		}
	}
	planner := search.NewPlanner(space)
	planner.Top = 3
	plan, counts, err := planner.Plan(context.Background(), &search.Rows{}, search.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println("fewer than half were simulated:", 2*counts.Simulated < counts.Layouts)
	for _, e := range plan.Sizes[0].Best {
		fmt.Println(e.Rank, report.LayoutLabel(e.Settings))
	}
	// Output:
	// fewer than half were simulated: true
	// 1 DP8 ZeRO-1 5 x 4
	// 2 DP8 ZeRO-1 10 x 2
	// 3 DP8 5 x 4
}

// The largest micro-batch with which a job fits.
func ExampleFindLargest() {
	job, err := scenarios.Open("1b-static")
	if err != nil {
		panic(err)
	}
	largest, err := search.FindLargest(context.Background(), job, nil, "schedule.microbatch_size")
	fmt.Println(largest, err)
	// Output: Largest that fits: schedule.microbatch_size = 8 (94 % full). <nil>
}
