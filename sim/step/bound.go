package step

import (
	"context"

	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/model"
)

// A simulated step is the longest path through its actions: an action begins
// when its rank is free and its input is there. Durations that are too short
// can only shorten that path, so that the path of the same program, with every
// kernel, collective and hand-off alone on the machine,
// is a lower bound. It is what a search may discard a layout by.

// Bound is what no simulation of a job can fall below.
type Bound struct {
	Time   sim.Time
	Memory int64 // bytes of the fullest GPU, with what lies outside PyTorch
}

// LowerBound bounds the job's step from its program, more closely than
// [Bounder] does. A schedule without a flush has no bound: it is 0.
func (j *Job) LowerBound() (Bound, error) {
	if j.Program.Async || j.Config.Schedule.NoBarrier {
		return Bound{}, nil
	}
	if j.Config.Data.dynamic() { // a shorter sequence may be of any length
		return Bound{Memory: j.memoryBound()}, nil
	}
	t, err := j.timeBound()
	return Bound{Time: t, Memory: j.memoryBound()}, err
}

// memoryBound is the fullest rank's weights, gradients and optimizer states with
// the activations that its list keeps alive, and the CUDA context.
func (j *Job) memoryBound() int64 {
	var most int64
	for r := range j.stages {
		s := &j.stages[r]
		saved := make([]int64, len(s.chunks))
		for c, cc := range s.chunks {
			if !j.Config.Data.dynamic() { // else micro-batches may be shorter
				saved[c] = keptBytes(cc.chunk)
			}
		}
		var live, peak int64
		for _, a := range j.Program.Lists[r] {
			switch a.Op {
			case schedule.Forward:
				live += saved[a.Chunk]
				peak = max(peak, live)
			case schedule.Backward, schedule.BackwardInput: // split ones keep more, which only their ranks know
				live -= saved[a.Chunk]
			}
		}
		most = max(most, fullBytes(j.Config, j.opt, j.dp.paramBytes, j.dp.gradBytes, s.gradElements, s.ownElements, peak)+int64(j.Config.GPU.ContextBytes))
	}
	return most
}

// keptBytes is what a chunk's forward writes and leaves for its backward.
func keptBytes(chunk *model.Chunk) int64 {
	var sum int64
	for id, left := range leftBehind(chunk, model.Lifetimes(chunk.Tensors, chunk.Forward, chunk.Backward)[0]) {
		if t := &chunk.Tensors[id]; left && !t.Kept { // those all micro-batches share
			sum += t.Bytes
		}
	}
	return sum
}

// fullBytes is the least peak of a rank that keeps activations alive beside what
// its parameters take from the second step on. Only Megatron's gradients are
// there before the step's first backward. FSDP keeps fp32 shards of weights and
// gradients and no further copy.
func fullBytes(c *Config, opt Optimizer, paramBytes, gradBytes, parameters, own, activations int64) int64 {
	layout := c.stateLayout()
	if layout == shardedLayout {
		n := parameters / c.shards()
		return n*(4+opt.States) + max(4*n, activations)
	}
	held, gradients := parameters*paramBytes+own*(opt.Master+opt.States), parameters*gradBytes
	if layout == megatronLayout {
		return held + gradients + activations
	}
	return held + max(gradients, activations)
}

// timeBound is the longest path through the program, or the busiest stream of
// data-parallel collectives, whichever is longer.
func (j *Job) timeBound() (sim.Time, error) {
	costs := schedule.Costs{PerStage: make([]schedule.StageCost, j.Program.Stages()), Latency: float64(j.leastHandOff())}
	p := &pathFinder{job: j, how: backwardsOf(j.Program), paths: make(map[pathKey]sim.Time), slowed: make(map[slowedKey]sim.Time)}
	begin, end, stream := sim.Forever, sim.Forever, sim.Time(0)
	for r := range j.stages {
		p.stage(r, &costs)
		script := j.stages[r].script
		begin = min(begin, kernelTime(script[0].block))
		end = min(end, kernelTime(script[len(script)-1].block))
		stream = max(stream, p.streamTime(r, model.DP), p.streamTime(r, model.ExpertDP), p.streamTime(r, model.Copies))
	}
	res, err := j.Program.Execute(costs)
	if err != nil {
		return 0, err
	}
	return max(begin+sim.Time(res.Makespan)+end, stream), nil
}

// kernelTime sums the kernels of a block, alone.
func kernelTime(b *block) sim.Time {
	var sum sim.Time
	for i := range b.code {
		if b.code[i].kind == doKernel {
			sum += b.code[i].dur
		}
	}
	return sum
}

// Timed simulates a step without the memory account: Memory and OOM of its
// result are empty.
func (j *Job) Timed(ctx context.Context, o Options) (*Result, error) {
	res, err := j.simulate(ctx, o, make([]RankMemory, len(j.stages)), j.Config.Faults.Any())
	if res != nil {
		res.Memory = nil
	}
	return res, err
}

// StageMemory accounts for the memory of one pipeline rank. Where it runs out of
// memory the figures are those up to then.
func (j *Job) StageMemory(stage int) (RankMemory, error) {
	a, err := j.newAccount(stage, int64(j.Config.GPU.Memory))
	if err != nil {
		return RankMemory{}, err
	}
	oom := a.run(context.Background())
	m := a.result()
	m.OOM = oom
	j.limit(&m)
	return m, nil
}
