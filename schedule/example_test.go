package schedule_test

import (
	"context"
	"fmt"
	"strings"

	"trainsim/schedule"
	"trainsim/schedule/kinds"
)

// Four ranks and eight micro-batches under two schedules: the bubble as a share
// of the step is 27 % with 1F1B and 16 % with two chunks a rank, whose actions
// take half the time.
func Example() {
	for _, c := range []struct {
		kind  string
		costs schedule.Costs
	}{
		{"1f1b", schedule.Costs{StageCost: schedule.StageCost{Forward: 2, BackwardInput: 2, BackwardWeight: 2}}},
		{"interleaved", schedule.UnitCosts()},
	} {
		p, err := kinds.Build(context.Background(), c.kind, schedule.Options{Ranks: 4, Microbatches: 8})
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := p.Execute(context.Background(), c.costs)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: makespan %g, bubble %.1f %% of it, rank 0 starts %s\n", p.Kind, r.Makespan, 100*r.BubbleOverTotal(), strings.Join(p.Tokens(0)[:6], " "))
	}
	// Output:
	// 1f1b: makespan 66, bubble 27.3 % of it, rank 0 starts F0 F1 F2 F3 B0 F4
	// interleaved: makespan 57, bubble 15.8 % of it, rank 0 starts F0.0 F1.0 F2.0 F3.0 F0.1 F1.1
}

func ExampleParseCSV() {
	_, err := schedule.ParseCSV("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1F1\n", "my.csv")
	fmt.Println(err)
	// Output: my.csv: row 2, column 4 ("1F1"): runs a second time; each micro-batch passes once through each chunk
}
