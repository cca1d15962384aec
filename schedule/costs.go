package schedule

import "fmt"

// Costs are the durations of the actions of one chunk, in any one unit.
type Costs struct {
	StageCost
	// Latency is the time from the end of an action to the arrival of its
	// output on another rank.
	Latency float64
	// Pair is the duration of an overlapped pair; 0: the sum of its halves.
	Pair float64
	// PerStage overrides StageCost for each global stage; nil, or one entry a
	// stage.
	PerStage []StageCost
}

// StageCost is what the actions of one stage take for one micro-batch.
type StageCost struct {
	Forward        float64
	BackwardInput  float64
	BackwardWeight float64
}

// UnitCosts are the costs of the textbook figures: F, I and W take 1, without
// latency.
func UnitCosts() Costs {
	return Costs{StageCost: StageCost{Forward: 1, BackwardInput: 1, BackwardWeight: 1}}
}

// Of returns the cost of an operation; a fused backward costs its two halves.
func (s StageCost) Of(op Op) float64 {
	switch op {
	case Forward:
		return s.Forward
	case BackwardInput:
		return s.BackwardInput
	case BackwardWeight:
		return s.BackwardWeight
	}
	return s.BackwardInput + s.BackwardWeight
}

// Stage returns the costs of one global stage.
func (c Costs) Stage(stage int) StageCost {
	if stage < len(c.PerStage) {
		return c.PerStage[stage]
	}
	return c.StageCost
}

// isZero reports whether no cost was given.
func (c Costs) isZero() bool {
	return c.StageCost == StageCost{} && c.Latency == 0 && len(c.PerStage) == 0
}

// Validate refuses costs that no run can have.
func (c Costs) Validate(stages int) error {
	all := []float64{c.Forward, c.BackwardInput, c.BackwardWeight, c.Latency, c.Pair}
	for _, s := range c.PerStage {
		all = append(all, s.Forward, s.BackwardInput, s.BackwardWeight)
	}
	for _, x := range all {
		if !(x >= 0) || x > 1e300 {
			return fmt.Errorf("schedule: cost %g; costs are finite numbers of at least 0", x)
		}
	}
	if n := len(c.PerStage); n != 0 && n != stages {
		return fmt.Errorf("schedule: costs of %d stages given; the program has %d stages, write one line for each", n,
			stages)
	}
	return nil
}
