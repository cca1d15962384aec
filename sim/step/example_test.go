package step_test

import (
	"context"
	"fmt"

	"trainsim/scenarios"
	"trainsim/sim/step"
)

// Every moment of a stage is booked to one cause.
func ExampleRun() {
	cfg, err := scenarios.Load("70b-tp4-pp2")
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := step.Run(context.Background(), cfg, step.Options{NoRecording: true, Fold: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := res.Stages[0]
	sum := s.Compute + s.Recompute + s.Host + s.Exposed() + s.Optimizer + s.Warmup + s.Cooldown + s.Imbalance
	fmt.Println(len(res.Stages), sum == res.StepTime)
	// Output: 2 true
}
