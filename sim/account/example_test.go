package account_test

import (
	"context"
	"fmt"

	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/job"
)

// The first stage of a pipeline holds activations of as many micro-batches as
// there are stages, the last of one.
func ExampleReplay() {
	cfg, err := scenarios.Load("70b-tp4-pp2")
	if err != nil {
		fmt.Println(err)
		return
	}
	j, err := job.Build(context.Background(), cfg, account.Peaks)
	if err != nil {
		fmt.Println(err)
		return
	}
	ranks, err := account.Replay(context.Background(), j, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, last := ranks[0].Parts(), ranks[1].Parts()
	fmt.Println(ranks[0].Fits(), first.Activations > 3*last.Activations/2)
	// Output: true true
}
