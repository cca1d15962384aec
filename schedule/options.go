package schedule

import (
	"fmt"
	"strings"
)

// Options are the counts and costs that a schedule is built for. A zero value
// of an optional field means the schedule's own default.
type Options struct {
	Ranks         int // p, pipeline ranks; at least 1
	Microbatches  int // m, micro-batches a batch (both directions together); at least 1
	VirtualStages int // v, model chunks a rank; 0: the schedule's default

	// GroupSize is the number of micro-batches that an interleaved schedule
	// runs through one chunk before the next (Megatron's
	// --microbatch-group-size-per-virtual-pipeline-stage). 0: as the system
	// does by default.
	GroupSize int
	// MemoryCap is the most chunk activations that zb-auto and v-adaptive keep
	// alive on a rank, from F to W. 0: the schedule's default.
	MemoryCap int
	// WeightShare is the share of a chunk's activation memory that its W still
	// needs after its I, for zb-auto's MemoryCap: from 0 to 1; 0 is taken as 1.
	WeightShare float64
	// Batches is the number of batches that pipedream-2bw runs through; 0: 2.
	Batches int
	// Costs guide the schedules whose order depends on them (zb-auto,
	// zb-v-auto, v-half, v-min, 1f1b-v, v-adaptive). The zero value: F, I and W
	// cost 1, without latency.
	Costs Costs
	// System holds the counts to the checks of one training system; AnySystem
	// accepts what any of them can run.
	System System
}

// weightShare returns WeightShare with its default.
func (o Options) weightShare() float64 {
	if o.WeightShare == 0 {
		return 1
	}
	return o.WeightShare
}

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

// validate refuses costs that no run can have.
func (c Costs) validate(stages int) error {
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
		return fmt.Errorf("schedule: costs of %d stages given; the program has %d stages, write one line for each", n, stages)
	}
	return nil
}

// System is a training system whose own checks on counts a schedule can be
// held to.
type System uint8

// The systems. AnySystem accepts the counts that at least one of them runs.
const (
	AnySystem System = iota
	Torch            // torch.distributed.pipelining, torchtitan
	Megatron         // Megatron-LM core, NeMo
	DeepSpeed        // DeepSpeed's PipelineModule
	DeepSeek         // DeepSeek's DualPipe
)

var systemNames = [...]string{"any", "torch", "megatron", "deepspeed", "deepseek"}

// String returns the system's name in lower case.
func (s System) String() string {
	if int(s) < len(systemNames) {
		return systemNames[s]
	}
	return fmt.Sprintf("System(%d)", uint8(s))
}

// UnmarshalText reads a system's name; the empty text is AnySystem.
func (s *System) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = AnySystem
		return nil
	}
	for i, name := range systemNames {
		if strings.EqualFold(string(text), name) {
			*s = System(i)
			return nil
		}
	}
	return fmt.Errorf("unknown system %q; write one of %s", text, strings.Join(systemNames[:], ", "))
}
