package bound

import (
	"context"
	"math"

	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// Bound is what no simulation of a job can fall below.
type Bound struct {
	Time   sim.Time
	Memory int64 // bytes of the fullest GPU, with what lies outside PyTorch
}

// Of bounds the job's step from its program, more closely than [Bounder] does. A
// schedule without a flush has no bound: it is 0.
func Of(ctx context.Context, j *job.Job) (Bound, error) {
	if j.Program.Async || j.Config.Schedule.NoBarrier {
		return Bound{}, nil
	}
	if j.Config.Data.Dynamic() { // a shorter sequence may be of any length
		return Bound{Memory: jobMemory(j)}, nil
	}
	t, err := jobTime(ctx, j)
	return Bound{Time: t, Memory: jobMemory(j)}, err
}

// jobTime is the longest path through the program, or the busiest stream of
// data-parallel collectives, whichever is longer.
func jobTime(ctx context.Context, j *job.Job) (sim.Time, error) {
	costs := schedule.Costs{
		PerStage: make([]schedule.StageCost, j.Program.Stages()), Latency: float64(leastHandOff(j)),
	}
	p := &pathFinder{
		job: j, how: backwardsOf(j.Program), paths: make(map[pathKey]sim.Time),
		slowed: make(map[code.KernelBeside]sim.Time),
	}
	begin, end, stream := sim.Forever, sim.Forever, sim.Time(0)
	for r := range j.Stages {
		p.stage(r, &costs)
		script := j.Stages[r].Script
		begin = min(begin, kernelTime(script[0].Block))
		end = min(end, kernelTime(script[len(script)-1].Block))
		stream = max(stream, p.streamTime(r, model.DP), p.streamTime(r, model.ExpertDP), p.streamTime(r, model.Copies))
	}
	res, err := j.Program.Execute(ctx, costs)
	if err != nil {
		return 0, err
	}
	if math.IsInf(res.Makespan, 1) { // a chunk without an action of some kind, whose cost nobody knows
		return stream, nil
	}
	return max(begin.Plus(sim.FromPicoseconds(res.Makespan)).Plus(end), stream), nil
}

// kernelTime sums the kernels of a block, alone.
func kernelTime(b *code.Block) sim.Time {
	var sum sim.Time
	for i := range b.Code {
		if b.Code[i].Kind == code.RunKernel {
			sum = sum.Plus(b.Code[i].Time)
		}
	}
	return sum
}

// leastHandOff is the shortest time of a hand-off between neighbouring stages,
// alone on its links.
func leastHandOff(j *job.Job) sim.Time {
	perStage, p := j.Config.Parallel.RanksPerStage(), j.Program
	if p.Ranks < 2 || p.Placement == schedule.Bidirectional {
		return 0
	}
	bytes := j.Spec.Build(model.Run{Layers: 1}).Output
	least := sim.Forever
	for r := range p.Ranks {
		for c := range p.Chunks {
			if next, _, ok := p.Next(r, c); ok && next != r {
				plan := j.NCCL.Send(r*perStage, next*perStage, bytes)
				least = min(least, plan.Uncontended())
			}
		}
	}
	if least == sim.Forever {
		return 0
	}
	return least
}

// jobMemory is the fullest rank's weights, gradients and optimizer states with
// the activations that its list keeps alive, and the CUDA context.
func jobMemory(j *job.Job) int64 {
	var most int64
	for r := range j.Stages {
		s := &j.Stages[r]
		saved := make([]int64, len(s.Chunks))
		for c, chunk := range s.Chunks {
			if !j.Config.Data.Dynamic() { // else micro-batches may be shorter
				saved[c] = keptBytes(chunk.Model)
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
		most = max(most, leastBytes(j.Config, &j.State, s.TrainedParameters, s.OwnedParameters, peak))
	}
	return most + int64(j.Config.GPU.ContextBytes)
}
