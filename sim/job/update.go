package job

import (
	"trainsim/sim/code"
	"trainsim/sim/gpu"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// stepBlocks compiles what a pipeline rank does before its first and after its
// last micro-batch.
func (j *Job) stepBlocks(s *Stage) (begin, end *code.Block) {
	b := j.Compiler.Emitter(trace.Optimizer)
	b.MemoryKernel("zero_grad", gpu.Copy, 0, s.TrainedParameters*j.DP.gradBytes)
	for i, d := range j.GradientGroups() {
		if d.overlapGet && d.Ranks > 1 {
			for _, n := range s.gathers[i] {
				b.QueueCollective("param_gather", d.paramComm(n))
			}
		}
	}
	e := j.Compiler.Emitter(trace.Optimizer)
	j.reduceGrads(e, s)
	j.gradNorm(e, s)
	j.update(e, s)
	for _, d := range j.GradientGroups() {
		if d.Zero == 1 && d.Ranks > 1 && !d.overlapGet {
			for _, n := range s.Parameters(d) {
				e.RunCollective("param_gather", d.paramComm(n))
			}
		}
	}
	return &b.Block, &e.Block
}

// updateBlock compiles the update of an asynchronous schedule: the replicas
// exchange gradients and step, without waiting for other stages.
func (j *Job) updateBlock(s *Stage) *code.Block {
	if s.updateCode == nil {
		e := j.Compiler.Emitter(trace.Optimizer)
		j.reduceGrads(e, s)
		j.update(e, s)
		s.updateCode = &e.Block
	}
	return s.updateCode
}

// reduceGrads sums the gradients over the replicas, and the tied embedding's
// over the stages that share it.
func (j *Job) reduceGrads(e *code.Emitter, s *Stage) {
	for _, d := range j.GradientGroups() {
		switch {
		case d.Ranks == 1:
		case d.sharded() || d.overlapGrad:
			e.WaitGroup(d.group)
			if d.copies {
				e.WaitGroup(model.Copies)
			}
		default:
			for _, n := range s.Parameters(d) {
				average(e, d, n)
				e.RunCollective("grad_reduce", d.gradComm(n))
			}
		}
	}
	if s.tiedParameters > 0 {
		c := model.Comm{Group: model.Embedding, Collective: model.AllReduce, Bytes: s.tiedParameters * j.DP.gradBytes}
		e.RunCollective("embedding_all_reduce", c)
	}
}

// average divides gradients by the replicas before they are summed.
func average(e *code.Emitter, d *GradientGroup, elements int64) {
	e.MemoryKernel("average_grads", gpu.Elementwise, elements*d.gradBytes, elements*d.gradBytes)
}

// gradNorm finds the norm of all gradients and clips; the host reads the norm,
// so it waits for the GPU.
func (j *Job) gradNorm(e *code.Emitter, s *Stage) {
	n := s.OwnedParameters
	if j.Spec.Precision == gpu.FP16 { // the check for overflow under loss scaling
		e.MemoryKernel("unscale", gpu.Optimizer, n*j.DP.gradBytes, n*j.DP.gradBytes)
	}
	e.MemoryKernel("grad_norm", gpu.Reduction, n*j.DP.gradBytes, 0)
	if j.Config.Schedule.NoBarrier {
		return
	}
	if j.hasWorldGroup() {
		c := model.Comm{Group: model.World, Collective: model.AllReduce, Bytes: 4}
		e.RunCollective("grad_norm_all_reduce", c)
	}
	e.SyncHost("grad_norm_read")
	e.MemoryKernel("clip", gpu.Optimizer, n*j.DP.gradBytes, n*j.DP.gradBytes)
}

// update is the optimizer's step over the parameters that this rank owns.
func (j *Job) update(e *code.Emitter, s *Stage) {
	n := s.OwnedParameters
	state := j.optimizer.states
	weights := j.optimizer.master
	if weights == 0 {
		weights = j.DP.paramBytes
	}
	read := n * (j.DP.gradBytes + weights + state)
	write := n * (weights + state)
	e.MemoryKernel("optimizer", gpu.Optimizer, read, write)
	if j.optimizer.master > 0 {
		e.MemoryKernel("copy_params", gpu.Copy, n*j.optimizer.master, n*j.DP.paramBytes)
	}
}
