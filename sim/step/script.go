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
	j.messages = int32(2 * p.Pipes() * p.Stages() * p.PipeMicrobatches())
	for r := range p.Ranks {
		s := &j.stages[r]
		for c := range p.Chunks {
			s.chunks = append(s.chunks, j.chunk(p.Stage(r, c), split))
		}
		j.countParameters(r, s)
		j.buildScript(r, s, split)
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
func (j *Job) countParameters(rank int, s *stage) {
	for _, cc := range s.chunks {
		s.gradElements += cc.chunk.Parameters
		sizes, _ := j.dp.buckets(units(cc.chunk))
		s.gathers = append(s.gathers, sizes...)
		if j.Program.Stages() > 1 && (cc.chunk.First != cc.chunk.Last) {
			s.tied = max(s.tied, cc.chunk.EmbeddingParameters)
		}
	}
	if first, last := j.ends(); first == last {
		s.tied = 0
	}
	s.ownElements = s.gradElements
	if j.dp.zero >= 1 {
		s.ownElements = (s.gradElements + j.dp.ranks - 1) / j.dp.ranks
	}
}

// ends returns the pipeline ranks of the model's first and last stage.
func (j *Job) ends() (first, last int) {
	first, _ = j.Program.Owner(0, 0)
	last, _ = j.Program.Owner(0, j.Program.Stages()-1)
	return first, last
}

func (j *Job) buildScript(rank int, s *stage, split bool) {
	begin, end := j.stepBlocks(rank)
	plain := action{block: begin, kind: trace.Optimizer, name: j.compiler.name("begin"), microbatch: -1, recv: -1, send: -1}
	s.script = append(s.script, plain)
	list := j.Program.Lists[rank]
	seen := make([]bool, len(s.chunks))
	last := lastBackwards(list, len(s.chunks))
	for i, a := range list {
		cc := s.chunks[a.Chunk]
		key := blockKey{op: a.Op, split: split, last: last[a.Chunk] == i}
		if a.Op == schedule.Forward && !seen[a.Chunk] {
			seen[a.Chunk] = true
			key.first, key.bucket = true, s.firstBucket(int(a.Chunk), &j.dp)
		}
		s.script = append(s.script, j.action(rank, a, j.blockFor(cc, key)))
	}
	j.fuseMessages(s)
	plain.block, plain.name = end, j.compiler.name("optimizer")
	s.script = append(s.script, plain)
}

// firstBucket returns the number of the chunk's first parameter gather.
func (s *stage) firstBucket(chunk int, d *dataParallel) int32 {
	n := 0
	for _, cc := range s.chunks[:chunk] {
		sizes, _ := d.buckets(units(cc.chunk))
		n += len(sizes)
	}
	return int32(n)
}

// lastBackwards returns, by chunk, the index of the action behind which the
// chunk's gradients are complete.
func lastBackwards(list []schedule.Action, chunks int) []int {
	last := make([]int, chunks)
	for i, a := range list {
		if a.Op == schedule.Backward || a.Op == schedule.BackwardWeight {
			last[a.Chunk] = i
		}
	}
	return last
}

// action numbers the messages of a schedule's action.
func (j *Job) action(rank int, a schedule.Action, b *block) action {
	p := j.Program
	out := action{block: b, kind: actionKinds[a.Op], chunk: a.Chunk, microbatch: a.Microbatch, recv: -1, send: -1,
		name: j.compiler.name(fmt.Sprintf("%s%d", a.Op, a.Microbatch))}
	stage, pipe, chunk := p.Stage(rank, int(a.Chunk)), p.Pipe(int(a.Chunk)), int(a.Chunk)
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
func (j *Job) fuseMessages(s *stage) {
	for i := 0; i+1 < len(s.script); i++ {
		a, b := &s.script[i], &s.script[i+1]
		a.fused = a.send >= 0 && b.recv >= 0 && (a.kind == trace.Forward) != (b.kind == trace.Forward)
	}
}
