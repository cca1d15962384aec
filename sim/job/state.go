package job

import (
	"cmp"

	"trainsim/sim/framework"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
)

// State is what training keeps of a parameter, kind by kind, under a job's
// formats, optimizer, ZeRO stage and framework. The memory account, its
// explanation, the lower bounds and the table of optimizers all read this table.
type State struct {
	// Layout is how they lie in memory: as the framework lays them out, or as FSDP.
	Layout framework.States
	// Weights are what kernels read or, under FSDP, fp32 shards of it, which are
	// their own masters.
	Weights Held
	// Gradients are those that micro-batches add up in.
	Gradients Held
	// GradientCopies are further ones: DistributedDataParallel's buckets, or those
	// that a backward writes in the weights' format where they add up in another
	// (DeepSpeed's BF16_Optimizer).
	GradientCopies Held
	// Master is the fp32 copy of the weights, Moments all other state of the
	// optimizer, in so many tensors.
	Master, Moments Held
	MomentTensors   int
	// MainGradients is the fp32 copy that 16-bit gradients become for the
	// optimizer's step; it is gone after it.
	MainGradients Held
	// ReadBytes is a parameter as kernels read it, which FSDP gathers, SummedBytes
	// its gradient as replicas sum it.
	ReadBytes, SummedBytes int64
}

// Held is how many bytes of a parameter a rank holds: of each of its stage or,
// where that is sharded, of those whose optimizer states it owns.
type Held struct {
	Bytes   int64
	Sharded bool
}

// Of returns the bytes on a rank with so many parameters, of which it owns some.
func (h Held) Of(parameters, owned int64) int64 {
	if h.Sharded {
		return owned * h.Bytes
	}
	return parameters * h.Bytes
}

// mean returns the bytes a parameter on one of so many ranks.
func (h Held) mean(ranks int64) float64 {
	if h.Sharded {
		return float64(h.Bytes) / float64(max(1, ranks))
	}
	return float64(h.Bytes)
}

// ShardedStates is the layout of FSDP, whatever the framework's own: each unit's
// parameters, gradients and states are fp32 shards, what is gathered comes and
// goes.
const ShardedStates framework.States = "sharded"

// State returns the table of a job with a model and an optimizer over so many
// data-parallel ranks. ZeRO's first stage and Megatron's distributed optimizer
// shard what the optimizer has (Rajbhandari et al. 2020, arXiv 1910.02054, section
// 5); FSDP, the stages above, keeps weights and gradients in fp32 shards as well.
func (c *Config) State(m *model.Spec, o Optimizer, ranks int64) State {
	shared := c.Parallel.ZeRO >= 1
	s := State{
		Layout: c.stateLayout(), ReadBytes: parameterBytes(m), SummedBytes: m.GradDtype.Bytes(),
		Moments: Held{o.states, shared}, MomentTensors: o.moments,
	}
	if s.Layout == ShardedStates {
		s.Weights, s.Gradients = Held{4, true}, Held{4, true}
		return s
	}
	s.Weights, s.Gradients, s.Master = Held{Bytes: s.ReadBytes}, Held{Bytes: s.SummedBytes}, Held{o.master, shared}
	if o.master > 0 && s.SummedBytes < 4 {
		s.MainGradients = Held{4, shared}
	}
	switch {
	case s.Layout == framework.PlainStates && ranks > 1:
		s.GradientCopies = s.Gradients
	case s.Layout == framework.DeepSpeedStates && s.SummedBytes != s.ReadBytes:
		s.GradientCopies = s.Weights
	}
	return s
}

// parameterBytes is the size of a model parameter in memory. One in FP8 is there
// by rows and by columns.
func parameterBytes(m *model.Spec) int64 {
	if m.Precision == gpu.FP8 {
		return 2
	}
	return m.Precision.Bytes()
}

// stateLayout returns how the job lays out states.
func (c *Config) stateLayout() framework.States {
	if c.Parallel.ZeRO >= 2 && c.Shards() > 1 {
		return ShardedStates
	}
	return cmp.Or(c.Framework.States, framework.PlainStates)
}

// Mean returns the bytes of a parameter on one of so many ranks that share what is
// sharded. Copies of gradients are left out.
func (s *State) Mean(ranks int64) StateBytes {
	return StateBytes{
		Weights: s.Weights.mean(ranks), Gradients: s.Gradients.mean(ranks), MainGrads: s.MainGradients.mean(ranks),
		Master: s.Master.mean(ranks), States: s.Moments.mean(ranks),
	}
}

// StateBytes is what training keeps of one parameter on one rank, in bytes.
type StateBytes struct {
	Weights, Gradients, MainGrads, Master, States float64
}

// Kept returns the bytes that stay from step to step.
func (b StateBytes) Kept() float64 { return b.Weights + b.Gradients + b.Master + b.States }

// Sum returns the bytes during the optimizer's step.
func (b StateBytes) Sum() float64 { return b.Kept() + b.MainGrads }
