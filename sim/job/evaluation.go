package job

import (
	"fmt"

	"trainsim/sim/code"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// buildEvaluation makes the stages' scripts of the evaluation after a step:
// forward passes through the pipeline without a backward. Where a rank has
// several chunks, as many passes as there are pipeline ranks go through one
// before the next begins, as in an interleaved schedule.
func (j *Job) buildEvaluation() {
	passes := j.Config.Evaluation.Batches
	if passes == 0 {
		return
	}
	codes := make(map[*code.Chunk]*code.Chunk)
	blocks := make(map[*code.Chunk][2]*code.Block) // of the first pass and the others
	group := j.Program.Ranks
	for r := range j.Stages {
		s := &j.Stages[r]
		for first := 0; first < passes; first += group {
			for _, c := range j.evaluatedChunks(r) {
				chunk := s.Chunks[c]
				if codes[chunk] == nil {
					codes[chunk] = j.evaluationCode(chunk)
					blocks[chunk] = [2]*code.Block{
						j.evaluationBlock(codes[chunk], true), j.evaluationBlock(codes[chunk], false),
					}
				}
				for pass := first; pass < min(passes, first+group); pass++ {
					a := code.PlainAction(blocks[chunk][min(pass, 1)], j.Compiler.Name(fmt.Sprintf("E%d", pass)))
					a.Parts[0], a.Chunks[0] = j.evaluationPart(r, c, int32(pass)), codes[chunk]
					s.Evaluation = append(s.Evaluation, a)
				}
			}
		}
	}
}

// evaluatedChunks lists a rank's chunks of the first pipeline in the order of
// their stages.
func (j *Job) evaluatedChunks(rank int) []int {
	p := j.Program
	var out []int
	for stage := range p.Stages() {
		for c := range p.Chunks {
			if p.Pipe(c) == 0 && p.Stage(rank, c) == stage {
				out = append(out, c)
			}
		}
	}
	return out
}

// evaluationCode is a chunk at the batch size of the evaluation, in which there
// is no dropout. Everything that it allocates counts as activations.
func (j *Job) evaluationCode(chunk *code.Chunk) *code.Chunk {
	e := &j.Config.Evaluation
	spec := *j.Spec
	spec.Dropout = false
	spec.Microbatch = int64(j.Config.EvaluationBatch())
	out := code.NewChunk(spec.Build(chunk.Model.Run), false)
	if !e.KeepActivations {
		out.ForwardFrees = model.Lifetimes(out.Model.Tensors, out.Model.Forward)[0]
	}
	for i := range out.Saved {
		out.Saved[i] = true
	}
	return out
}

// evaluationBlock compiles a pass. The first gathers the weights that the step
// has changed where a pipeline's FSDP gathers once.
func (j *Job) evaluationBlock(chunk *code.Chunk, first bool) *code.Block {
	e := j.Compiler.Emitter(trace.Evaluation)
	e.Ops(chunk.Model.Forward, chunk.ForwardFrees, j.hooks(chunk, code.BlockKey{First: first && j.DP.sharded()}))
	e.SyncAction()
	return &e.Block
}

// evaluationPart numbers the messages of a pass.
func (j *Job) evaluationPart(rank, chunk int, pass int32) code.Part {
	p := j.Program
	out := code.Part{Kind: trace.Evaluation, Chunk: int16(chunk), Microbatch: pass, Recv: -1, Send: -1}
	stage, passes := int32(p.Stage(rank, chunk)), int32(j.Config.Evaluation.Batches)
	if prev, _, ok := p.Prev(rank, chunk); ok {
		out.Recv, out.RecvLocal, out.From = (stage*passes+pass)*2, prev == rank, int32(prev)
	}
	if next, _, ok := p.Next(rank, chunk); ok {
		out.Send, out.SendLocal, out.To = ((stage+1)*passes+pass)*2, next == rank, int32(next)
	}
	return out
}

// EvaluationChunk returns what a chunk of the rank runs in the evaluation.
func (s *Stage) EvaluationChunk(chunk int) *code.Chunk {
	for i := range s.Evaluation {
		if a := &s.Evaluation[i]; int(a.Parts[0].Chunk) == chunk {
			return a.Chunks[0]
		}
	}
	return nil
}
