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
	b.Stream("zero_grad", gpu.Copy, 0, s.GradElements*j.DP.GradBytes)
	for i, d := range j.GradientGroups() {
		if d.overlapGet && d.Ranks > 1 {
			for _, n := range s.gathers[i] {
				b.Queue("param_gather", d.paramComm(n))
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
				e.Communicate("param_gather", d.paramComm(n), false, 0)
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
			e.Drain(d.Group)
			if d.copies {
				e.Drain(model.Copies)
			}
		default:
			for _, n := range s.Parameters(d) {
				average(e, d, n)
				e.Communicate("grad_reduce", d.gradComm(n), false, 0)
			}
		}
	}
	if s.tied > 0 {
		c := model.Comm{Group: model.Embedding, Collective: model.AllReduce, Bytes: s.tied * j.DP.GradBytes}
		e.Communicate("embedding_all_reduce", c, false, 0)
	}
}

// average divides gradients by the replicas before they are summed.
func average(e *code.Emitter, d *GradientGroup, elements int64) {
	e.Stream("average_grads", gpu.Elementwise, elements*d.GradBytes, elements*d.GradBytes)
}

// gradNorm finds the norm of all gradients and clips; the host reads the norm,
// so it waits for the GPU.
func (j *Job) gradNorm(e *code.Emitter, s *Stage) {
	n := s.OwnElements
	if j.Spec.Precision == gpu.FP16 { // the check for overflow under loss scaling
		e.Stream("unscale", gpu.Optimizer, n*j.DP.GradBytes, n*j.DP.GradBytes)
	}
	e.Stream("grad_norm", gpu.Reduction, n*j.DP.GradBytes, 0)
	if j.Config.Schedule.NoBarrier {
		return
	}
	if j.hasWorldGroup() {
		c := model.Comm{Group: model.World, Collective: model.AllReduce, Bytes: 4}
		e.Communicate("grad_norm_all_reduce", c, false, 0)
	}
	e.Add(code.Instr{Kind: code.SyncHost, Host: j.Compiler.Host.Sync, Name: e.Name("grad_norm_read")})
	e.Stream("clip", gpu.Optimizer, n*j.DP.GradBytes, n*j.DP.GradBytes)
}

// update is the optimizer's step over the parameters that this rank owns.
func (j *Job) update(e *code.Emitter, s *Stage) {
	n := s.OwnElements
	state := j.Optimizer.States
	weights := j.Optimizer.Master
	if weights == 0 {
		weights = j.DP.ParamBytes
	}
	read := n * (j.DP.GradBytes + weights + state)
	write := n * (weights + state)
	e.Stream("optimizer", gpu.Optimizer, read, write)
	if j.Optimizer.Master > 0 {
		e.Stream("copy_params", gpu.Copy, n*j.Optimizer.Master, n*j.DP.ParamBytes)
	}
}
