package step

import (
	"trainsim/memory"
	"trainsim/schedule"
	"trainsim/sim/trace"
)

// gathersOnce reports whether FSDP gathers a stage's parameters once a step, in
// its first forward, and reduces its gradients in its last backward. In a
// pipeline anything else would move the whole stage for every micro-batch:
// torchtitan does not reshard there and synchronises with the last one alone
// (apply_fsdp and _build_pipeline_schedule). In between, gradients add up
// unsharded in the format of the reduction, as FSDP2 keeps them.
func (c *Config) gathersOnce() bool {
	return c.Parallel.ZeRO >= 2 && c.Parallel.PP > 1 && c.shards() > 1
}

// gathered is what a chunk of a pipeline holds unsharded during a step.
type gathered struct {
	weights, grads []memory.Ref
	backwards      int
}

// unshard allocates the parameters of a chunk before its first forward and the
// gradients before its first backward.
func (a *account) unshard(p *part) {
	if !a.job.Config.gathersOnce() || p.kind == trace.Evaluation {
		return
	}
	g, d, cc := &a.unsharded[p.chunk], &a.job.dp, a.job.stages[a.stage].chunks[p.chunk]
	if g.weights == nil {
		for _, bytes := range d.gathers(cc.chunk) {
			g.weights = append(g.weights, a.malloc("gathered weights", bytes, memory.Weights))
		}
	}
	if g.grads == nil && isBackward(p.kind) {
		for _, n := range d.units(cc.chunk) {
			g.grads = append(g.grads, a.malloc("unsharded gradients", n*d.gradBytes, memory.Gradients))
		}
	}
}

// reshard frees both behind the chunk's last backward of the step.
func (a *account) reshard(p *part) {
	if !a.job.Config.gathersOnce() || p.kind != trace.Backward && p.kind != trace.BackwardWeight {
		return
	}
	g := &a.unsharded[p.chunk]
	if g.backwards++; g.backwards < a.job.backwardsOf(a.stage, p.chunk) {
		return
	}
	a.freeAll(g.weights)
	a.freeAll(g.grads)
	*g = gathered{}
}

// backwardsOf counts the backwards that complete weight gradients of a chunk in
// a step.
func (j *Job) backwardsOf(stage int, chunk int16) int {
	n := 0
	for _, a := range j.Program.Lists[stage] {
		if a.Chunk == chunk && (a.Op == schedule.Backward || a.Op == schedule.BackwardWeight) {
			n++
		}
	}
	return n
}
