package step

import (
	"math"

	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// backwards says how a program runs its backwards.
type backwards uint8

const (
	wholeBackwards backwards = iota // input and weight gradients in one action
	splitBackwards                  // in two
	mixedBackwards                  // some so and some so, or beside a forward
)

// backwardsOf looks through a program's lists.
func backwardsOf(p *schedule.Program) backwards {
	whole, split := false, false
	for _, list := range p.Lists {
		for _, a := range list {
			if a.Pair {
				return mixedBackwards
			}
			whole = whole || a.Op == schedule.Backward
			split = split || a.Op == schedule.BackwardInput
		}
	}
	switch {
	case whole && split:
		return mixedBackwards
	case split:
		return splitBackwards
	}
	return wholeBackwards
}

// pathFinder finds the longest paths through the actions of a job's stages.
type pathFinder struct {
	job    *Job
	how    backwards
	paths  map[pathKey]sim.Time
	slowed map[slowedKey]sim.Time
}

// pathKey is what decides an action's path: its code, and the groups of its
// stage's first rank.
type pathKey struct {
	block  *block
	groups [model.NumGroups]int32
}

// groups returns the groups of a stage's first rank.
func (p *pathFinder) groups(stage int) (out [model.NumGroups]int32) {
	for kind, of := range p.job.groupOf {
		out[kind] = of[stage*p.job.Config.Parallel.columns()]
	}
	return out
}

// stage fills in what the actions of a pipeline rank take at least: of the
// variants of an action, the shortest.
func (p *pathFinder) stage(r int, costs *schedule.Costs) {
	s := &p.job.stages[r]
	for c, cc := range s.chunks {
		cost := &costs.PerStage[p.job.Program.Stage(r, c)]
		if p.how == mixedBackwards {
			*cost = p.kernels(cc)
			continue
		}
		*cost = schedule.StageCost{Forward: math.Inf(1), BackwardInput: math.Inf(1), BackwardWeight: math.Inf(1)}
		if p.how == wholeBackwards {
			cost.BackwardWeight = 0
		}
	}
	if p.how == mixedBackwards {
		return
	}
	groups := p.groups(r)
	for i := range s.script {
		part := &s.script[i].parts[0]
		if part.microbatch < 0 {
			continue
		}
		cost := &costs.PerStage[p.job.Program.Stage(r, int(part.chunk))]
		t := float64(p.path(pathKey{s.script[i].block, groups}))
		switch part.kind {
		case trace.Forward:
			cost.Forward = min(cost.Forward, t)
		case trace.Backward, trace.BackwardInput:
			cost.BackwardInput = min(cost.BackwardInput, t)
		case trace.BackwardWeight:
			cost.BackwardWeight = min(cost.BackwardWeight, t)
		}
	}
}

// kernels is what the actions of a chunk take at least where the collectives of
// one may hide behind another.
func (p *pathFinder) kernels(cc *chunkCode) schedule.StageCost {
	sum := func(ops []model.Op) float64 {
		return float64(blockingTime(ops, p.job.compiler, func(model.Comm) sim.Time { return 0 }))
	}
	return schedule.StageCost{Forward: sum(cc.chunk.Forward), BackwardInput: sum(cc.input), BackwardWeight: sum(cc.weight)}
}

// streamTime sums the collectives that a stage's first rank runs in one kind of
// group: they run one after the other.
func (p *pathFinder) streamTime(r int, kind model.Group) sim.Time {
	id := p.groups(r)[kind]
	if id < 0 {
		return 0
	}
	known := make(map[*block]sim.Time)
	var sum sim.Time
	for i := range p.job.stages[r].script {
		b := p.job.stages[r].script[i].block
		t, ok := known[b]
		if !ok {
			for k := range b.code {
				if in := &b.code[k]; (in.kind == doCollect || in.kind == doAsync) && in.group == kind {
					t += p.alone(id, in.comm)
				}
			}
			known[b] = t
		}
		sum += t
	}
	return sum
}

// alone is a collective's time with nothing else on its links.
func (p *pathFinder) alone(group, comm int32) sim.Time {
	plan := p.job.groups[group].plan(p.job.compiler.comms, comm)
	return plan.Uncontended()
}

// path returns the longest path through a block.
func (p *pathFinder) path(key pathKey) sim.Time {
	t, ok := p.paths[key]
	if !ok {
		w := walk{pathFinder: p, groups: key.groups}
		for i := range key.block.code {
			w.step(&key.block.code[i])
		}
		t = w.now
		p.paths[key] = t
	}
	return t
}

// walk is a path under way: kernels one after the other, collectives one after
// the other on the stream of their group, each alone on its links, and the waits
// for them. Waiting for the host or for other ranks only adds to it.
type walk struct {
	*pathFinder
	groups [model.NumGroups]int32
	now    sim.Time
	free   [model.NumGroups]sim.Time // when the stream of a group is idle again
	ends   [slots]sim.Time           // of the collectives that are open, by slot
	of     [slots]model.Group
	held   [slots]int32 // multiprocessors that they surely hold
}

func (w *walk) step(in *instr) {
	switch in.kind {
	case doKernel:
		w.kernel(in)
	case doCollect, doAsync:
		w.collective(in)
	case doJoin:
		w.now = max(w.now, w.ends[in.slot])
		w.ends[in.slot], w.held[in.slot] = 0, 0
	}
}

// kernel runs a kernel. Beside a collective that began when its stream was idle
// it is slower, unless it begins behind that one's end.
func (w *walk) kernel(in *instr) {
	end := w.now + in.dur
	for slot, held := range w.held {
		if held > 0 && w.ends[slot] > w.now {
			beside := w.beside(in.index, held)
			if w.job.compiler.queues(in.index) {
				beside = outlast(in.dur, beside, min(w.ends[slot]-w.now, beside))
			}
			end = max(end, min(w.now+beside, w.ends[slot]+in.dur))
		}
	}
	w.now = end
}

// beside returns a kernel's time while multiprocessors are held.
func (p *pathFinder) beside(kernel, held int32) sim.Time {
	key := slowedKey{kernel: kernel, held: held}
	t, ok := p.slowed[key]
	if !ok {
		t = p.job.compiler.beside(key)
		p.slowed[key] = t
	}
	return t
}

func (w *walk) collective(in *instr) {
	id := w.groups[in.group]
	if id < 0 || in.group == model.Embedding || in.group == model.World {
		return
	}
	idle := w.free[in.group] <= w.now && !w.open(in.group)
	end := max(w.now, w.free[in.group]) + w.alone(id, in.comm)
	w.free[in.group] = end
	switch {
	case in.kind == doCollect:
		w.now = end
	case in.slot < slots:
		w.ends[in.slot] = end
		w.of[in.slot] = in.group
		if idle && in.group == model.TP {
			w.held[in.slot] = int32(w.job.groups[id].plan(w.job.compiler.comms, in.comm).Channels)
		}
	}
}

// open reports whether a collective of a group is still to be waited for.
func (w *walk) open(kind model.Group) bool {
	for slot := range w.ends {
		if w.ends[slot] > 0 && w.of[slot] == kind {
			return true
		}
	}
	return false
}

// blockingTime sums kernels and the tensor-parallel collectives that a rank
// waits for.
func blockingTime(ops []model.Op, c *compiler, collective func(model.Comm) sim.Time) sim.Time {
	var sum sim.Time
	for i := range ops {
		op := &ops[i]
		switch {
		case op.Kind == model.Compute:
			sum += c.time(&op.Kernel)
		case op.Kind == model.Communicate && !op.Async && op.Comm.Group == model.TP:
			sum += collective(op.Comm)
		}
	}
	return sum
}

// leastHandOff is the shortest time of a hand-off between neighbouring stages,
// alone on its links.
func (j *Job) leastHandOff() sim.Time {
	columns, p := j.Config.Parallel.columns(), j.Program
	if p.Ranks < 2 || p.Placement == schedule.Bidirectional {
		return 0
	}
	bytes := j.spec.Build(0, 1, false, false).BoundaryBytes
	least := sim.Forever
	for r := range p.Ranks {
		for c := range p.Chunks {
			if next, _, ok := p.Next(r, c); ok && next != r {
				plan := j.nccl.Send(r*columns, next*columns, bytes)
				least = min(least, plan.Uncontended())
			}
		}
	}
	if least == sim.Forever {
		return 0
	}
	return least
}
