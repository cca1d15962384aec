package account

import (
	"trainsim/memory"
	"trainsim/sim/job"
)

// update replays the optimizer's step: its states appear in the first one,
// what it needs for the moment comes and goes.
func (a *replay) update() {
	var passing []memory.Ref
	hold := func(what string, bytes int64) {
		passing = append(passing, a.malloc(what, bytes, memory.Temporaries))
	}
	switch a.state {
	case job.MegatronLayout:
		if a.copiesGrads() {
			for _, n := range a.owned {
				hold("fp32 gradients", 4*n)
			}
		}
		a.optimizerStates()
	case job.DeepspeedLayout:
		a.updateDeepSpeed(hold)
	default:
		a.optimizerStates()
		if a.job.Optimizer.States >= 8 { // the foreach step's square roots of the variances
			for _, n := range a.owned {
				hold("foreach temporaries", 4*n)
			}
		}
	}
	a.sample(false)
	a.freeAll(passing)
}

// copiesGrads reports whether gradients are cast to fp32 for the step: where
// they are kept in 16 bits beside fp32 masters.
func (a *replay) copiesGrads() bool { return a.job.Optimizer.Master > 0 && a.job.DP.GradBytes < 4 }

// updateDeepSpeed reduces through a bucket; 16-bit gradients of the partition
// are collected, measured in double precision one by one, flattened and cast,
// and the parameters are gathered through a bucket.
func (a *replay) updateDeepSpeed(hold func(string, int64)) {
	s := &a.job.Stages[a.stage]
	if a.job.DP.Ranks > 1 && !a.job.SplitGrads() {
		a.passing("reduce bucket", deepspeedBucket*a.job.DP.GradBytes)
	}
	if a.copiesGrads() {
		for _, n := range a.owned {
			hold("partition of the gradients", n*a.job.DP.GradBytes)
			a.passing("float64 gradient", 8*min(n, a.largestWeight())) // for its norm
			hold("flattened gradients", n*a.job.DP.GradBytes)
			hold("fp32 gradients", 4*n)
		}
	}
	if a.job.DP.Ranks > 1 {
		a.passing("gather bucket", min(deepspeedBucket, s.TrainedParameters)*a.job.DP.ParamBytes)
	}
}

// optimizerStates allocates the states, two tensors a piece where there are two
// moments.
func (a *replay) optimizerStates() {
	if a.states {
		return
	}
	a.states = true
	for _, n := range a.owned {
		bytes := n * a.job.Optimizer.States
		if bytes > 0 && a.job.Optimizer.Moments == 2 {
			a.malloc("optimizer states", bytes/2, memory.Optimizer)
			bytes -= bytes / 2
		}
		a.malloc("optimizer states", bytes, memory.Optimizer)
	}
}
