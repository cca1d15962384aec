package kinds_test

import (
	"context"
	"fmt"

	"trainsim/schedule"
	"trainsim/schedule/kinds"
)

// Schedules are found by the names that systems and papers give them, and say
// which counts they take.
func Example() {
	k, err := kinds.Find("Schedule Interleaved 1F1B")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k.Name, "has", k.Chunks, "chunks a rank by default")
	_, err = k.Build(context.Background(), schedule.Options{Ranks: 4, Microbatches: 11})
	fmt.Println(err)
	// Output:
	// interleaved has 2 chunks a rank by default
	// schedule interleaved: microbatches = 11: a multiple of the 2 rounds, max(1, m/p), or a group size such as 6; write 10 or 12
}
