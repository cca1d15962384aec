package step

import (
	"fmt"

	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// buildEvaluation makes the stages' scripts of the evaluation behind a step:
// forward passes through the pipeline without a backward. Where a rank has
// several chunks, as many passes as there are pipeline ranks go through one
// before the next begins, as in an interleaved schedule.
func (j *Job) buildEvaluation() {
	passes := j.Config.Evaluation.Batches
	if passes == 0 {
		return
	}
	codes := make(map[*chunkCode]*chunkCode)
	blocks := make(map[*chunkCode][2]*block) // of the first pass and the others
	group := j.Program.Ranks
	for r := range j.stages {
		s := &j.stages[r]
		for first := 0; first < passes; first += group {
			for _, c := range j.evaluatedChunks(r) {
				cc := s.chunks[c]
				if codes[cc] == nil {
					codes[cc] = j.evaluationCode(cc)
					blocks[cc] = [2]*block{j.evaluationBlock(codes[cc], true), j.evaluationBlock(codes[cc], false)}
				}
				for pass := first; pass < min(passes, first+group); pass++ {
					a := bare(blocks[cc][min(pass, 1)], j.compiler.name(fmt.Sprintf("E%d", pass)))
					a.parts[0], a.chunks[0] = j.evaluationPart(r, c, int32(pass)), codes[cc]
					s.evaluation = append(s.evaluation, a)
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
func (j *Job) evaluationCode(cc *chunkCode) *chunkCode {
	e := &j.Config.Evaluation
	spec := *j.spec
	spec.Dropout = false
	if e.BatchSize > 0 {
		spec.Microbatch = int64(e.BatchSize)
	}
	out := newChunkCode(cc.shape, j.build(&spec, cc.shape), false)
	if !e.KeepActivations {
		out.forwardTensors = model.Lifetimes(out.chunk.Tensors, out.chunk.Forward)[0]
	}
	for i := range out.saved {
		out.saved[i] = true
	}
	return out
}

// evaluationBlock compiles a pass. The first gathers the weights that the step
// has changed where a pipeline's FSDP gathers once.
func (j *Job) evaluationBlock(cc *chunkCode, first bool) *block {
	e := j.compiler.emitter(trace.Evaluation)
	e.ops(cc.chunk.Forward, cc.forwardTensors, j.hooks(cc, blockKey{first: first && j.dp.sharded()}))
	e.finish()
	return &e.block
}

// evaluationPart numbers the messages of a pass.
func (j *Job) evaluationPart(rank, chunk int, pass int32) part {
	p := j.Program
	out := part{kind: trace.Evaluation, chunk: int16(chunk), microbatch: pass, recv: -1, send: -1}
	stage, passes := int32(p.Stage(rank, chunk)), int32(j.Config.Evaluation.Batches)
	if prev, _, ok := p.Prev(rank, chunk); ok {
		out.recv, out.recvLocal, out.from = (stage*passes+pass)*2, prev == rank, int32(prev)
	}
	if next, _, ok := p.Next(rank, chunk); ok {
		out.send, out.sendLocal, out.to = ((stage+1)*passes+pass)*2, next == rank, int32(next)
	}
	return out
}

// evaluate replays the allocations of the evaluation behind a step. What a pass
// keeps goes when its loss does, at its end.
func (a *account) evaluate() {
	script := a.job.stages[a.stage].evaluation
	if a.full != nil || len(script) == 0 {
		return
	}
	a.mark(true)
	for i := range script {
		a.action = int32(i)
		a.runAction(&script[i])
		if a.full != nil {
			a.evaluating = true
			return
		}
	}
	a.alloc.DriverWork() // what came behind the last pass is nobody's
}
