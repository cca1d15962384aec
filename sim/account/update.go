package account

import (
	"trainsim/memory"
	"trainsim/sim/framework"
)

// update replays the optimizer's step: its states appear in the first one,
// what it needs for the moment comes and goes.
func (a *replay) update() {
	var passing []memory.Ref
	hold := func(what string, bytes int64) {
		passing = append(passing, a.malloc(what, bytes, memory.Temporaries))
	}
	s := &a.job.State
	switch s.Layout {
	case framework.MegatronStates:
		for _, n := range a.owned {
			hold("fp32 gradients", n*s.MainGradients.Bytes)
		}
		a.optimizerStates()
	case framework.DeepSpeedStates:
		a.updateDeepSpeed(hold)
	default:
		a.optimizerStates()
		if s.Moments.Bytes >= 8 { // the foreach step's square roots of the variances
			for _, n := range a.owned {
				hold("foreach temporaries", 4*n)
			}
		}
	}
	a.sample(false)
	a.freeAll(passing)
}

// updateDeepSpeed reduces through a bucket; 16-bit gradients of the partition
// are collected, measured in double precision one by one, flattened and cast,
// and the parameters are gathered through a bucket.
func (a *replay) updateDeepSpeed(hold func(string, int64)) {
	s := &a.job.State
	if a.job.DP.Ranks > 1 && !a.splitGradients() {
		a.pass("reduce bucket", deepspeedBucket*s.Gradients.Bytes)
	}
	if s.MainGradients.Bytes > 0 {
		for _, n := range a.owned {
			hold("partition of the gradients", n*s.Gradients.Bytes)
			a.pass("float64 gradient", 8*min(n, a.largestWeight())) // for its norm
			hold("flattened gradients", n*s.Gradients.Bytes)
			hold("fp32 gradients", n*s.MainGradients.Bytes)
		}
	}
	if a.job.DP.Ranks > 1 {
		a.pass("gather bucket", min(deepspeedBucket, a.job.Stages[a.stage].TrainedParameters)*s.Weights.Bytes)
	}
}

// deepspeedBucket is DeepSpeed's default bucket for reducing gradients and for
// gathering parameters, in elements.
const deepspeedBucket = 500_000_000
