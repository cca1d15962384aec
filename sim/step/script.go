package step

import (
	"fmt"

	"trainsim/schedule"
	"trainsim/sim/trace"
)

// buildStages compiles every pipeline rank's script from its list of actions.
func (j *Job) buildStages() error {
	p := j.Program
	split := splitsBackward(p)
	j.stages = make([]stage, p.Ranks)
	j.messages = int32(2 * p.Pipes() * p.Stages() * max(p.PipeMicrobatches(), j.Config.Evaluation.Batches))
	for r := range p.Ranks {
		s := &j.stages[r]
		for c := range p.Chunks {
			s.chunks = append(s.chunks, j.chunk(p.Stage(r, c), split))
		}
		j.countParameters(s)
		j.buildScript(r, s)
	}
	j.buildEvaluation()
	return j.drawLengths()
}

// maxDraws is how many sequences a run of different lengths may have.
const maxDraws = 1 << 24

// drawLengths draws the sequences' lengths and compiles what runs on them.
func (j *Job) drawLengths() error {
	c := j.Config
	if !c.Data.varies() {
		return nil
	}
	n := float64(c.Parallel.DP) * float64(c.steps()) * float64(j.Program.PipeMicrobatches()) * float64(max(1, c.Schedule.MicrobatchSize))
	if n > maxDraws {
		return fmt.Errorf("data.steps: %d steps have %.0f sequences of different lengths, more than are drawn (%d); write fewer steps", c.steps(), n, maxDraws)
	}
	j.draws = c.draw(j.Program.PipeMicrobatches())
	if c.Data.dynamic() {
		j.lengths = j.draws.padded
		j.compileLengths()
	}
	return nil
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

// countParameters fills what the stage holds and exchanges.
func (j *Job) countParameters(s *stage) {
	first, last := j.ends()
	for _, d := range j.replicas() {
		var gathers []int64
		var parameters int64
		for _, cc := range s.chunks {
			sizes, _ := d.buckets(d.units(cc.chunk))
			gathers = append(gathers, sizes...)
			parameters += d.parameters(cc.chunk)
		}
		s.gathers = append(s.gathers, gathers)
		s.gradElements += parameters
		s.ownElements += d.owned(parameters)
	}
	for _, cc := range s.chunks {
		if cc.chunk.First != cc.chunk.Last && first != last {
			s.tied = max(s.tied, cc.chunk.EmbeddingParameters)
		}
	}
}

// parameters returns how many of a group's parameters each chunk has that has
// any.
func (s *stage) parameters(d *dataParallel) (out []int64) {
	for _, cc := range s.chunks {
		if n := d.parameters(cc.chunk); n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// ends returns the pipeline ranks of the model's first and last stage.
func (j *Job) ends() (first, last int) {
	first, _ = j.Program.Owner(0, 0)
	last, _ = j.Program.Owner(0, j.Program.Stages()-1)
	return first, last
}

func (j *Job) buildScript(rank int, s *stage) {
	begin, end := j.stepBlocks(s)
	s.script = append(s.script, bare(begin, j.compiler.name("begin")))
	list := j.Program.Lists[rank]
	b := &scriptBuilder{job: j, rank: rank, stage: s, seen: make([]bool, len(s.chunks)), last: j.lastBackwards(list, len(s.chunks))}
	for i := 0; i < len(list); i++ {
		if list[i].Pair && i+1 < len(list) {
			s.script = append(s.script, b.pair(i, list))
			i++
		} else {
			s.script = append(s.script, b.single(i, list[i]))
		}
		b.update(i, list[i])
	}
	fuseMessages(s)
	if !j.Program.Async {
		s.script = append(s.script, bare(end, j.compiler.name("optimizer")))
	}
}

// scriptBuilder turns one rank's list into its script.
type scriptBuilder struct {
	job   *Job
	rank  int
	stage *stage
	seen  []bool
	last  [][]bool // by chunk, action: gradients are complete behind it
}

// code compiles a part of an action.
func (b *scriptBuilder) code(i int, a schedule.Action, out *action, part int) *block {
	key := blockKey{op: a.Op, last: b.last[a.Chunk][i]}
	if a.Op == schedule.Forward && !b.seen[a.Chunk] {
		b.seen[a.Chunk] = true
		key.first = true
		for i, d := range b.job.replicas() {
			key.buckets[i] = b.stage.firstBucket(int(a.Chunk), d)
		}
	}
	cc := b.stage.chunks[a.Chunk]
	out.chunks[part], out.keys[part] = cc, key
	return b.job.blockFor(cc, key)
}

func (b *scriptBuilder) single(i int, a schedule.Action) action {
	out := bare(nil, b.job.compiler.name(fmt.Sprintf("%s%d", a.Op, a.Microbatch)))
	out.block = b.code(i, a, &out, 0)
	out.parts[0] = b.job.part(b.rank, a)
	return out
}

// pair makes one action of two that overlap.
func (b *scriptBuilder) pair(i int, list []schedule.Action) action {
	one, two := list[i], list[i+1]
	name := fmt.Sprintf("%s%d+%s%d", one.Op, one.Microbatch, two.Op, two.Microbatch)
	out := bare(nil, b.job.compiler.name(name))
	out.block = b.job.merged(b.code(i, one, &out, 0), b.code(i+1, two, &out, 1))
	out.parts = [2]part{b.job.part(b.rank, one), b.job.part(b.rank, two)}
	out.pair = true
	return out
}

// update adds the weights' update of an asynchronous schedule behind the
// backward that completes a mini-batch.
func (b *scriptBuilder) update(i int, a schedule.Action) {
	if !b.job.Program.Async || !b.last[a.Chunk][i] {
		return
	}
	u := bare(b.job.updateBlock(b.stage), b.job.compiler.name("update"))
	u.update = true
	b.stage.script = append(b.stage.script, u)
}

// firstBucket returns the number of the chunk's first parameter gather.
func (s *stage) firstBucket(chunk int, d *dataParallel) int32 {
	n := 0
	for _, cc := range s.chunks[:chunk] {
		sizes, _ := d.buckets(d.units(cc.chunk))
		n += len(sizes)
	}
	return int32(n)
}

// lastBackwards marks, by chunk, the actions behind which gradients are
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
func (j *Job) part(rank int, a schedule.Action) part {
	p := j.Program
	out := part{kind: actionKinds[a.Op], chunk: a.Chunk, microbatch: a.Microbatch, recv: -1, send: -1}
	chunk := int(a.Chunk)
	stage, pipe := p.Stage(rank, chunk), p.Pipe(chunk)
	prev, _, hasPrev := p.Prev(rank, chunk)
	next, _, hasNext := p.Next(rank, chunk)
	switch a.Op {
	case schedule.Forward:
		if hasPrev {
			out.recv, out.recvLocal, out.from = j.message(pipe, stage, a.Microbatch, false), prev == rank, int32(prev)
		}
		if hasNext {
			out.send, out.sendLocal, out.to = j.message(pipe, stage+1, a.Microbatch, false), next == rank, int32(next)
		}
	case schedule.Backward, schedule.BackwardInput:
		if hasNext {
			out.recv, out.recvLocal, out.from = j.message(pipe, stage, a.Microbatch, true), next == rank, int32(next)
		}
		if hasPrev {
			out.send, out.sendLocal, out.to = j.message(pipe, stage-1, a.Microbatch, true), prev == rank, int32(prev)
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

// fuseMessages marks sends that blocking systems batch with the next receive:
// where the direction of the work turns, as in Megatron-LM's
// send_forward_recv_backward.
func fuseMessages(s *stage) {
	for i := 0; i+1 < len(s.script); i++ {
		a, b := &s.script[i], &s.script[i+1]
		one, two := &a.parts[0], &b.parts[0]
		a.fused = !a.pair && one.send >= 0 && two.recv >= 0 && (one.kind == trace.Forward) != (two.kind == trace.Forward)
	}
}
