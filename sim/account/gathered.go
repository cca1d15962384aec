package account

import (
	"trainsim/memory"
	"trainsim/schedule"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/trace"
)

// gathered is what a chunk of a pipeline holds unsharded during a step.
type gathered struct {
	weights, grads []memory.Ref
	backwards      int
}

// unshard allocates the parameters of a chunk before its first forward and the
// gradients before its first backward.
func (a *replay) unshard(p *code.Part) {
	if !a.job.Config.GathersOnce() || p.Kind == trace.Evaluation {
		return
	}
	g, d, chunk := &a.gathered[p.Chunk], &a.job.DP, a.job.Stages[a.stage].Chunks[p.Chunk]
	if g.weights == nil {
		for _, bytes := range d.Gathers(chunk.Model) {
			g.weights = append(g.weights, a.malloc("gathered weights", bytes, memory.Weights))
		}
	}
	if g.grads == nil && isBackward(p.Kind) {
		for _, n := range d.Units(chunk.Model) {
			g.grads = append(g.grads, a.malloc("unsharded gradients", n*a.job.State.SummedBytes, memory.Gradients))
		}
	}
}

// reshard frees both after the chunk's last backward of the step.
func (a *replay) reshard(p *code.Part) {
	if !a.job.Config.GathersOnce() || p.Kind != trace.Backward && p.Kind != trace.BackwardWeight {
		return
	}
	g := &a.gathered[p.Chunk]
	if g.backwards++; g.backwards < backwardsOf(a.job, a.stage, p.Chunk) {
		return
	}
	a.freeAll(g.weights)
	a.freeAll(g.grads)
	*g = gathered{}
}

// backwardsOf counts the backwards that complete weight gradients of a chunk in
// a step.
func backwardsOf(j *job.Job, stage int, chunk int16) int {
	n := 0
	for _, a := range j.Program.Lists[stage] {
		if a.Chunk == chunk && (a.Op == schedule.Backward || a.Op == schedule.BackwardWeight) {
			n++
		}
	}
	return n
}
