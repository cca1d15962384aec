package step

import (
	"fmt"

	"trainsim/sim/gpu"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// Optimizer is what an optimizer keeps and moves for each parameter, in bytes.
type Optimizer struct {
	// Master is the fp32 copy of the weights that training in 16 bits keeps.
	Master int64
	// States is all other state: momentum, variance.
	States int64
	// Moments is how many tensors the states of a parameter are.
	Moments int
}

// OptimizerState returns the optimizer's bytes a parameter. States follow the
// optimizers' definitions: Adam two fp32 moments; SGD none, with momentum one
// fp32 buffer; 8-bit Adam (Dettmers et al. 2022, arXiv 2110.02861) two 1-byte
// moments, their block-wise scales are 1/512 of that; Adafactor (Shazeer and
// Stern 2018) row and column sums only, counted as none a parameter.
func OptimizerState(kind string, precision gpu.Dtype) (Optimizer, error) {
	var o Optimizer
	if precision.Bytes() < 4 {
		o.Master = 4
	}
	switch kind {
	case "", "adam":
		o.States, o.Moments = 8, 2
	case "sgd-momentum":
		o.States, o.Moments = 4, 1
	case "adam-8bit":
		o.States, o.Moments = 2, 2
	case "sgd", "adafactor":
	default:
		return o, fmt.Errorf("optimizer %q is unknown; write adam, sgd, sgd-momentum, adam-8bit or adafactor", kind)
	}
	return o, nil
}

// stepBlocks compiles what a pipeline rank does before its first and after its
// last micro-batch.
func (j *Job) stepBlocks(s *stage) (begin, end *block) {
	b := j.compiler.emitter(trace.Optimizer)
	b.stream("zero_grad", gpu.Copy, 0, s.gradElements*j.dp.gradBytes)
	for i, d := range j.replicas() {
		if d.overlapGet && d.ranks > 1 {
			for _, n := range s.gathers[i] {
				b.queue("param_gather", d.paramComm(n))
			}
		}
	}
	e := j.compiler.emitter(trace.Optimizer)
	j.reduceGrads(e, s)
	j.gradNorm(e, s)
	j.update(e, s)
	for _, d := range j.replicas() {
		if d.zero == 1 && d.ranks > 1 && !d.overlapGet {
			for _, n := range s.parameters(d) {
				e.communicate("param_gather", d.paramComm(n), false, 0)
			}
		}
	}
	return &b.block, &e.block
}

// updateBlock compiles the update of an asynchronous schedule: the replicas
// exchange gradients and step, without waiting for other stages.
func (j *Job) updateBlock(s *stage) *block {
	if s.updateCode == nil {
		e := j.compiler.emitter(trace.Optimizer)
		j.reduceGrads(e, s)
		j.update(e, s)
		s.updateCode = &e.block
	}
	return s.updateCode
}

// stream adds a memory-bound kernel of the optimizer.
func (e *emitter) stream(name string, class gpu.Class, read, write int64) {
	op := model.Op{Name: name, Kernel: gpu.Kernel{Kind: gpu.Memory, Class: class, ReadBytes: read, WriteBytes: write}}
	e.kernel(&op)
}

// reduceGrads sums the gradients over the replicas, and the tied embedding's
// over the stages that share it.
func (j *Job) reduceGrads(e *emitter, s *stage) {
	for _, d := range j.replicas() {
		switch {
		case d.ranks == 1:
		case d.sharded() || d.overlapGrad:
			e.drain(d.group)
			if d.copies {
				e.drain(model.Copies)
			}
		default:
			for _, n := range s.parameters(d) {
				e.average(d, n)
				e.communicate("grad_reduce", d.gradComm(n), false, 0)
			}
		}
	}
	if s.tied > 0 {
		c := model.Comm{Group: model.Embedding, Collective: model.AllReduce, Bytes: s.tied * j.dp.gradBytes}
		e.communicate("embedding_all_reduce", c, false, 0)
	}
}

// average divides gradients by the replicas before they are summed.
func (e *emitter) average(d *dataParallel, elements int64) {
	e.stream("average_grads", gpu.Elementwise, elements*d.gradBytes, elements*d.gradBytes)
}

// gradNorm finds the norm of all gradients and clips; the host reads the norm,
// so it waits for the GPU.
func (j *Job) gradNorm(e *emitter, s *stage) {
	n := s.ownElements
	if j.spec.Precision == gpu.FP16 { // the check for overflow under loss scaling
		e.stream("unscale", gpu.Optimizer, n*j.dp.gradBytes, n*j.dp.gradBytes)
	}
	e.stream("grad_norm", gpu.Reduction, n*j.dp.gradBytes, 0)
	if j.Config.Schedule.NoBarrier {
		return
	}
	if j.hasWorldGroup() {
		c := model.Comm{Group: model.World, Collective: model.AllReduce, Bytes: 4}
		e.communicate("grad_norm_all_reduce", c, false, 0)
	}
	e.add(instr{kind: doSync, host: j.compiler.host.sync, name: e.name("grad_norm_read")})
	e.stream("clip", gpu.Optimizer, n*j.dp.gradBytes, n*j.dp.gradBytes)
}

// update is the optimizer's step over the parameters that this rank owns.
func (j *Job) update(e *emitter, s *stage) {
	n := s.ownElements
	state := j.opt.States
	weights := j.opt.Master
	if weights == 0 {
		weights = j.dp.paramBytes
	}
	read := n * (j.dp.gradBytes + weights + state)
	write := n * (weights + state)
	e.stream("optimizer", gpu.Optimizer, read, write)
	if j.opt.Master > 0 {
		e.stream("copy_params", gpu.Copy, n*j.opt.Master, n*j.dp.paramBytes)
	}
}
