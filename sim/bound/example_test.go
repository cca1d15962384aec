package bound_test

import (
	"context"
	"fmt"

	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/bound"
	"trainsim/sim/job"
	"trainsim/sim/step"
)

// The quick bound lies under the close one, and that under the simulated step.
func ExampleOf() {
	cfg, err := scenarios.Load("70b-tp4-pp2")
	if err != nil {
		fmt.Println(err)
		return
	}
	least, err := bound.NewBounder(cfg).Bound(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	j, err := job.Build(context.Background(), cfg, account.Peaks)
	if err != nil {
		fmt.Println(err)
		return
	}
	close, err := bound.Of(context.Background(), j)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := step.Timed(context.Background(), j, step.Options{NoRecording: true, Fold: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(least.Time <= close.Time, close.Time <= res.StepTime)
	// Output: true true
}
