package step

import (
	"fmt"
	"strings"

	"trainsim/memory"
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
	spec.Microbatch = int64(j.Config.EvaluationBatch())
	out := newChunkCode(cc.shape, j.build(&spec, cc.shape), false)
	if !e.KeepActivations {
		out.forwardTensors = model.Lifetimes(out.chunk.Tensors, out.chunk.Forward)[0]
	}
	for i := range out.saved {
		out.saved[i] = true
	}
	return out
}

// explainEvaluation is what a pass holds at most: all that its backward would
// need, or each tensor until it has been read. One pass of a chunk is over before
// the next begins.
func (e *explainer) explainEvaluation() {
	var most *chunkCode
	var bytes int64
	for i := range e.stage.evaluation {
		if cc := e.stage.evaluation[i].chunks[0]; cc != most {
			if n := mostAlive(cc); n > bytes {
				most, bytes = cc, n
			}
		}
	}
	if most == nil {
		return
	}
	c := e.job.Config
	how := "each tensor until it has been read"
	if c.Evaluation.KeepActivations {
		how = keptByPass(most, bytes)
	}
	e.add(memory.Activations, bytes, "activations of the evaluation", "a pass of %d sequences: %s", c.EvaluationBatch(), how)
	e.lines[len(e.lines)-1].Evaluation = true
}

// mostAlive returns the most bytes that a pass holds at one time.
func mostAlive(cc *chunkCode) int64 {
	s := newAliveSet(cc, func(id model.TensorID) bool {
		t := &cc.chunk.Tensors[id]
		return !t.Weights && !t.Kept
	})
	s.pass(cc.chunk.Forward, cc.forwardTensors)
	return s.most
}

// keptByPass spells out what a pass keeps to its end, by layer, and what is there
// beside it for a while, where it holds the most bytes.
func keptByPass(cc *chunkCode, most int64) string {
	kept := *cc
	kept.saved = leftBehind(cc.chunk, cc.forwardTensors)
	layers, ends := keptByLayer(&kept)
	most -= ends
	var of []int64 // bytes of the layers that differ
	count := make(map[int64]int)
	for _, l := range layers {
		if count[l.bytes] == 0 {
			of = append(of, l.bytes)
		}
		count[l.bytes]++
		most -= l.bytes
	}
	var b strings.Builder
	for _, bytes := range of {
		fmt.Fprintf(&b, "%d layers x %d B + ", count[bytes], bytes)
	}
	fmt.Fprintf(&b, "%d B at the ends + %d B of operators at work", ends, most)
	return b.String()
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
	before := a.alloc.PeakAllocated()
	a.mark(true)
	for i := range script {
		a.action = int32(i)
		a.runAction(&script[i])
		if a.full != nil {
			a.evaluating = true
			return
		}
	}
	a.peakInEvaluation = a.peakInEvaluation || a.alloc.PeakAllocated() > before
	a.alloc.DriverWork() // what came behind the last pass is nobody's
}
