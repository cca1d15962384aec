package bound

import (
	"math"

	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/model"
	"trainsim/sim/trace"
)

// pathFinder finds the longest paths through the actions of a job's stages.
type pathFinder struct {
	job    *job.Job
	how    backwards
	paths  map[pathKey]sim.Time
	slowed map[code.KernelBeside]sim.Time
}

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

// stage fills in what the actions of a pipeline rank take at least: of the
// variants of an action, the shortest.
func (p *pathFinder) stage(r int, costs *schedule.Costs) {
	s := &p.job.Stages[r]
	for c, chunk := range s.Chunks {
		cost := &costs.PerStage[p.job.Program.Stage(r, c)]
		if p.how == mixedBackwards {
			*cost = p.kernels(chunk)
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
	for i := range s.Script {
		part := &s.Script[i].Parts[0]
		if part.Microbatch < 0 {
			continue
		}
		cost := &costs.PerStage[p.job.Program.Stage(r, int(part.Chunk))]
		t := float64(p.path(pathKey{s.Script[i].Block, groups}))
		switch part.Kind {
		case trace.Forward:
			cost.Forward = min(cost.Forward, t)
		case trace.Backward, trace.BackwardInput:
			cost.BackwardInput = min(cost.BackwardInput, t)
		case trace.BackwardWeight:
			cost.BackwardWeight = min(cost.BackwardWeight, t)
		}
	}
}

// pathKey is what decides an action's path: its code, and the groups of its
// stage's first rank.
type pathKey struct {
	block  *code.Block
	groups [model.NumGroups]int32
}

// groups returns the groups of a stage's first rank.
func (p *pathFinder) groups(stage int) (out [model.NumGroups]int32) {
	for kind, of := range p.job.GroupOf {
		out[kind] = of[stage*p.job.Config.Parallel.RanksPerStage()]
	}
	return out
}

// kernels is what the actions of a chunk take at least where the collectives of
// one may hide behind another.
func (p *pathFinder) kernels(chunk *code.Chunk) schedule.StageCost {
	sum := func(ops []model.Op) float64 {
		return float64(p.job.Compiler.BlockingTime(ops, func(model.Comm) sim.Time { return 0 }))
	}
	return schedule.StageCost{
		Forward: sum(chunk.Model.Forward), BackwardInput: sum(chunk.InputOps), BackwardWeight: sum(chunk.WeightOps),
	}
}

// streamTime sums the collectives that a stage's first rank runs in one kind of
// group: they run one after the other.
func (p *pathFinder) streamTime(r int, kind model.Group) sim.Time {
	id := p.groups(r)[kind]
	if id < 0 {
		return 0
	}
	known := make(map[*code.Block]sim.Time)
	var sum sim.Time
	for i := range p.job.Stages[r].Script {
		b := p.job.Stages[r].Script[i].Block
		t, ok := known[b]
		if !ok {
			for k := range b.Code {
				in := &b.Code[k]
				if in.Group == kind && (in.Kind == code.RunCollective || in.Kind == code.StartCollective) {
					t = t.Plus(p.alone(id, in.Comm))
				}
			}
			known[b] = t
		}
		sum = sum.Plus(t)
	}
	return sum
}

// path returns the longest path through a block.
func (p *pathFinder) path(key pathKey) sim.Time {
	t, ok := p.paths[key]
	if !ok {
		w := walk{pathFinder: p, groups: key.groups}
		for i := range key.block.Code {
			w.step(&key.block.Code[i])
		}
		t = w.now
		p.paths[key] = t
	}
	return t
}

// alone is a collective's time with nothing else on its links.
func (p *pathFinder) alone(group, comm int32) sim.Time {
	plan := p.job.Groups[group].Plan(p.job.Compiler.Comms, comm)
	return plan.Uncontended()
}

// walk is a path under way: kernels one after the other, collectives one after
// the other on the stream of their group, each alone on its links, and the waits
// for them. Waiting for the host or for other ranks only adds to it.
type walk struct {
	*pathFinder
	groups [model.NumGroups]int32
	now    sim.Time
	free   [model.NumGroups]sim.Time // when the stream of a group is idle again
	ends   [code.Slots]sim.Time      // of the collectives that are open, by slot
	of     [code.Slots]model.Group
	held   [code.Slots]int32 // multiprocessors that they surely hold
}

func (w *walk) step(in *code.Instr) {
	switch in.Kind {
	case code.RunKernel:
		w.kernel(in)
	case code.RunCollective, code.StartCollective:
		w.collective(in)
	case code.WaitSlot:
		w.now = max(w.now, w.ends[in.Slot])
		w.ends[in.Slot], w.held[in.Slot] = 0, 0
	}
}

// kernel runs a kernel. Beside a collective that began when its stream was idle
// it is slower, unless it begins after that one's end.
func (w *walk) kernel(in *code.Instr) {
	end := w.now.Plus(in.Time)
	for slot, held := range w.held {
		if held > 0 && w.ends[slot] > w.now {
			beside := w.beside(in.Index, held)
			switch shared := min(w.ends[slot]-w.now, beside); {
			case in.Pieces > 1:
				beside = code.PiecesBeside(in.Time, beside, shared, in.Pieces)
			case w.job.Compiler.Queues(in.Index):
				beside = code.PartlyBeside(in.Time, beside, shared)
			}
			end = max(end, min(w.now+beside, w.ends[slot]+in.Time))
		}
	}
	w.now = end
}

// beside returns a kernel's time while multiprocessors are held.
func (p *pathFinder) beside(kernel, held int32) sim.Time {
	key := code.KernelBeside{Kernel: kernel, SMs: held}
	t, ok := p.slowed[key]
	if !ok {
		t = p.job.Compiler.TimeBeside(key)
		p.slowed[key] = t
	}
	return t
}

func (w *walk) collective(in *code.Instr) {
	id := w.groups[in.Group]
	if id < 0 || in.Group == model.Embedding || in.Group == model.World {
		return
	}
	idle := w.free[in.Group] <= w.now && !w.open(in.Group)
	end := max(w.now, w.free[in.Group]).Plus(w.alone(id, in.Comm))
	w.free[in.Group] = end
	switch {
	case in.Kind == code.RunCollective:
		w.now = end
	case in.Slot < code.Slots:
		w.ends[in.Slot] = end
		w.of[in.Slot] = in.Group
		if idle && in.Group == model.TP {
			w.held[in.Slot] = int32(w.job.Groups[id].Plan(w.job.Compiler.Comms, in.Comm).Channels)
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
