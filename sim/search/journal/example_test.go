package journal_test

import (
	"context"
	"fmt"
	"os"

	"trainsim/scenarios"
	"trainsim/sim/report"
	"trainsim/sim/search"
	"trainsim/sim/search/journal"
)

// A sweep whose results are on a disk: what is there is not simulated again.
func Example() {
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	grid, err := search.NewGrid([]report.Axis{{Key: "schedule.microbatches", Values: []string{"4", "8"}}}, nil)
	if err != nil {
		panic(err)
	}
	if grid.Template, err = scenarios.Open("pp4-1f1b-8"); err != nil {
		panic(err)
	}
	for range 2 {
		head, err := journal.ForSweep(grid, search.Options{})
		if err != nil {
			panic(err)
		}
		j, err := journal.Open(dir, head, journal.GoOn)
		if err != nil {
			panic(err)
		}
		fmt.Println(j.Kept(), "results are there")
		err = grid.Run(context.Background(), j, search.Options{})
		fmt.Println(err, j.Finish())
		j.Close()
	}
	// Output:
	// 0 results are there
	// <nil> <nil>
	// 2 results are there
	// <nil> <nil>
}
