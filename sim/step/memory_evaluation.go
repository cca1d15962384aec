package step

import (
	"trainsim/memory"
	"trainsim/sim/model"
)

// evaluation is the forward code of a stage's chunks at the batch size of the
// evaluation, with the tensors to free behind each operator.
type evaluation struct {
	chunk *model.Chunk
	frees [][]model.TensorID
}

// evaluations builds the stage's forward passes; none without evaluation.
func (j *Job) evaluations(stage int) []evaluation {
	e := &j.Config.Evaluation
	if e.Batches == 0 {
		return nil
	}
	spec := *j.spec
	if e.BatchSize > 0 {
		spec.Microbatch = int64(e.BatchSize)
	}
	var out []evaluation
	for _, cc := range j.stages[stage].chunks {
		chunk := spec.Build(0, cc.chunk.Layers, cc.chunk.First, cc.chunk.Last)
		frees := model.Lifetimes(chunk.Tensors, chunk.Forward)[0]
		if e.KeepActivations {
			frees = model.Lifetimes(chunk.Tensors, chunk.Forward, chunk.Backward)[0]
		}
		out = append(out, evaluation{chunk, frees})
	}
	return out
}

// evaluate replays the forward passes behind a step. What a pass keeps goes
// when its loss does, at its end.
func (a *account) evaluate() {
	if a.full != nil {
		return
	}
	for range a.job.Config.Evaluation.Batches {
		for i := range a.passes {
			a.forward(&a.passes[i])
		}
	}
	a.evaluating = a.full != nil
}

func (a *account) forward(e *evaluation) {
	refs := make([]memory.Ref, len(e.chunk.Tensors))
	for i := range e.chunk.Forward {
		for _, id := range e.chunk.Forward[i].Writes {
			if t := &e.chunk.Tensors[id]; refs[id] == 0 && !t.Kept {
				refs[id] = a.malloc(t.Name, t.Bytes, memory.Activations)
			}
		}
		for _, id := range e.frees[i] {
			a.free(&refs[id])
		}
	}
	a.sample(false)
	a.freeAll(refs)
	a.sample(false)
}
