package job

import (
	"fmt"

	"trainsim/schedule"
	"trainsim/sim/code"
)

// Stage is what the ranks of one pipeline rank share.
type Stage struct {
	Chunks            []*code.Chunk
	Script            []code.Action
	Evaluation        []code.Action // after the step
	TrainedParameters int64         // parameters with a gradient on the rank
	OwnedParameters   int64         // parameters whose optimizer state the rank holds
	tiedParameters    int64         // parameters of an embedding that another stage shares
	gathers           [][]int64     // by group of replicas: sizes of the parameter gathers, in order
	updateCode        *code.Block
}

// Script returns what a stage's ranks run in a step, or in the evaluation after
// it.
func (j *Job) Script(stage int, evaluation bool) []code.Action {
	if evaluation {
		return j.Stages[stage].Evaluation
	}
	return j.Stages[stage].Script
}

// buildStages compiles every pipeline rank's script from its list of actions.
func (j *Job) buildStages() error {
	p := j.Program
	split := splitsBackward(p)
	j.Stages = make([]Stage, p.Ranks)
	j.Messages = int32(2 * p.Pipes() * p.Stages() * max(p.PipeMicrobatches(), j.Config.Evaluation.Batches))
	for r := range p.Ranks {
		s := &j.Stages[r]
		for c := range p.Chunks {
			s.Chunks = append(s.Chunks, j.chunk(p.Stage(r, c), split))
		}
		j.countParameters(s)
		j.buildScript(r, s)
	}
	j.buildEvaluation()
	return j.drawLengths()
}

func splitsBackward(p *schedule.Program) bool {
	for _, list := range p.Lists {
		for _, a := range list {
			if a.Op == schedule.BackwardWeight {
				return true
			}
		}
	}
	return false
}

// chunk returns the code of the chunk that holds a global stage.
func (j *Job) chunk(stage int, split bool) *code.Chunk {
	run := j.runs[stage]
	c, ok := j.chunks[run]
	if !ok {
		c = code.NewChunk(j.Spec.Build(run), split)
		j.chunks[run] = c
	}
	return c
}

// countParameters fills what the stage holds and exchanges.
func (j *Job) countParameters(s *Stage) {
	first, last := j.ends()
	for _, d := range j.GradientGroups() {
		var gathers []int64
		var parameters int64
		for _, chunk := range s.Chunks {
			sizes, _ := d.buckets(d.Units(chunk.Model))
			gathers = append(gathers, sizes...)
			parameters += d.Parameters(chunk.Model)
		}
		s.gathers = append(s.gathers, gathers)
		s.TrainedParameters += parameters
		s.OwnedParameters += d.Owned(parameters)
	}
	for _, chunk := range s.Chunks {
		if chunk.Model.Run.Embeds != chunk.Model.Run.Ends && first != last {
			s.tiedParameters = max(s.tiedParameters, chunk.Model.Tied)
		}
	}
}

func (j *Job) buildScript(rank int, s *Stage) {
	begin, end := j.stepBlocks(s)
	s.Script = append(s.Script, code.PlainAction(begin, j.Compiler.Name("begin")))
	list := j.Program.Lists[rank]
	b := &scriptBuilder{
		job: j, rank: rank, stage: s, seen: make([]bool, len(s.Chunks)), last: j.lastBackwards(list, len(s.Chunks)),
	}
	for i := 0; i < len(list); i++ {
		if list[i].Pair && i+1 < len(list) {
			s.Script = append(s.Script, b.pair(i, list))
			i++
		} else {
			s.Script = append(s.Script, b.single(i, list[i]))
		}
		b.update(i, list[i])
	}
	batchMessages(s)
	if !j.Program.Async {
		s.Script = append(s.Script, code.PlainAction(end, j.Compiler.Name("optimizer")))
	}
}

// scriptBuilder turns one rank's list into its script.
type scriptBuilder struct {
	job   *Job
	rank  int
	stage *Stage
	seen  []bool
	last  [][]bool // by chunk, action: gradients are complete after it
}

func (b *scriptBuilder) single(i int, a schedule.Action) code.Action {
	out := code.PlainAction(nil, b.job.Compiler.Name(fmt.Sprintf("%s%d", a.Op, a.Microbatch)))
	out.Block = b.code(i, a, &out, 0)
	out.Parts[0] = b.job.part(b.rank, a)
	return out
}

// pair makes one action of two that overlap.
func (b *scriptBuilder) pair(i int, list []schedule.Action) code.Action {
	one, two := list[i], list[i+1]
	name := fmt.Sprintf("%s%d+%s%d", one.Op, one.Microbatch, two.Op, two.Microbatch)
	out := code.PlainAction(nil, b.job.Compiler.Name(name))
	out.Block = b.job.merged(b.code(i, one, &out, 0), b.code(i+1, two, &out, 1))
	out.Parts = [2]code.Part{b.job.part(b.rank, one), b.job.part(b.rank, two)}
	out.Pair = true
	return out
}

// code compiles a part of an action.
func (b *scriptBuilder) code(i int, a schedule.Action, out *code.Action, part int) *code.Block {
	key := code.BlockKey{Op: a.Op, Last: b.last[a.Chunk][i]}
	if a.Op == schedule.Forward && !b.seen[a.Chunk] {
		b.seen[a.Chunk] = true
		key.First = true
		for i, d := range b.job.GradientGroups() {
			key.Buckets[i] = b.stage.firstBucket(int(a.Chunk), d)
		}
	}
	chunk := b.stage.Chunks[a.Chunk]
	out.Chunks[part], out.Keys[part] = chunk, key
	return b.job.blockFor(chunk, key)
}

// firstBucket returns the number of the chunk's first parameter gather.
func (s *Stage) firstBucket(chunk int, d *GradientGroup) int32 {
	n := 0
	for _, c := range s.Chunks[:chunk] {
		sizes, _ := d.buckets(d.Units(c.Model))
		n += len(sizes)
	}
	return int32(n)
}

// lastBackwards marks, by chunk, the actions after which gradients are
// complete: the last backward, or that of every mini-batch when the weights
// change inside the list.
func (j *Job) lastBackwards(list []schedule.Action, chunks int) [][]bool {
	out := make([][]bool, chunks)
	at := make([]int, chunks)
	for c := range out {
		out[c], at[c] = make([]bool, len(list)), -1
	}
	p := j.Program
	perBatch := int32(1)
	if p.Batches > 1 {
		perBatch = int32(p.Microbatches)
	}
	for i, a := range list {
		if a.Op != schedule.Backward && a.Op != schedule.BackwardWeight {
			continue
		}
		at[a.Chunk] = i
		if p.Async && (a.Microbatch+1)%perBatch == 0 {
			out[a.Chunk][i] = true
		}
	}
	for c, i := range at {
		if i >= 0 {
			out[c][i] = true
		}
	}
	return out
}

// part numbers the messages of a schedule's action.
func (j *Job) part(rank int, a schedule.Action) code.Part {
	p := j.Program
	out := code.Part{Kind: actionKinds[a.Op], Chunk: a.Chunk, Microbatch: a.Microbatch, Recv: -1, Send: -1}
	chunk := int(a.Chunk)
	stage, pipe := p.Stage(rank, chunk), p.Pipe(chunk)
	prev, _, hasPrev := p.Prev(rank, chunk)
	next, _, hasNext := p.Next(rank, chunk)
	switch a.Op {
	case schedule.Forward:
		if hasPrev {
			out.Recv, out.RecvLocal, out.From = j.message(pipe, stage, a.Microbatch, false), prev == rank, int32(prev)
		}
		if hasNext {
			out.Send, out.SendLocal, out.To = j.message(pipe, stage+1, a.Microbatch, false), next == rank, int32(next)
		}
	case schedule.Backward, schedule.BackwardInput:
		if hasNext {
			out.Recv, out.RecvLocal, out.From = j.message(pipe, stage, a.Microbatch, true), next == rank, int32(next)
		}
		if hasPrev {
			out.Send, out.SendLocal, out.To = j.message(pipe, stage-1, a.Microbatch, true), prev == rank, int32(prev)
		}
	}
	return out
}

// message numbers the hand-off into a stage, within one pipeline.
func (j *Job) message(pipe, stage int, microbatch int32, backward bool) int32 {
	p := j.Program
	id := (int32(pipe*p.Stages()+stage)*int32(p.PipeMicrobatches()) + microbatch) * 2
	if backward {
		id++
	}
	return id
}

// update adds the weights' update of an asynchronous schedule after the
// backward that completes a mini-batch.
func (b *scriptBuilder) update(i int, a schedule.Action) {
	if !b.job.Program.Async || !b.last[a.Chunk][i] {
		return
	}
	u := code.PlainAction(b.job.updateBlock(b.stage), b.job.Compiler.Name("update"))
	u.Update = true
	b.stage.Script = append(b.stage.Script, u)
}

// batchMessages marks sends that blocking systems batch with the next receive:
// where the direction of the work turns.
func batchMessages(s *Stage) {
	for i := 0; i+1 < len(s.Script); i++ {
		a, b := &s.Script[i], &s.Script[i+1]
		both := a.Parts[0].Send >= 0 && b.Parts[0].Recv >= 0
		a.Batched = both && !a.Pair && schedule.Turns(a.Keys[0].Op, b.Keys[0].Op)
	}
}
