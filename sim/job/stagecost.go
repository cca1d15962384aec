package job

import (
	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// costs returns the costs of every global stage of the layers given, and the
// time of a hand-off.
func (j *Job) costs(layers []int) schedule.Costs {
	c := schedule.Costs{Latency: float64(j.handOff())}
	known := make(map[model.Run]schedule.StageCost)
	for _, r := range j.Config.Model.Split(layers) {
		cost, ok := known[r]
		if !ok {
			cost = j.stageCost(r)
			known[r] = cost
		}
		c.PerStage = append(c.PerStage, cost)
	}
	c.StageCost = c.PerStage[len(layers)/2]
	return c
}

// stageCost estimates what one micro-batch takes on a run of layers, each
// operator and collective alone: what schedules that plan with costs, and the
// balancing of layers, go by. Units are picoseconds.
func (j *Job) stageCost(r model.Run) schedule.StageCost {
	chunk := j.Spec.Build(r)
	input, weight := chunk.Split()
	return schedule.StageCost{
		Forward:        float64(j.Compiler.BlockingTime(chunk.Forward, j.alone)),
		BackwardInput:  float64(j.Compiler.BlockingTime(input, j.alone)),
		BackwardWeight: float64(j.Compiler.BlockingTime(weight, j.alone)),
	}
}

// alone is a collective's time in the first tensor-parallel group, with nothing
// else on its links.
func (j *Job) alone(c model.Comm) sim.Time {
	if j.tpComm == nil {
		return 0
	}
	p := j.tpComm.Plan(NetOps[c.Collective], c.Bytes)
	return p.Uncontended()
}

// handOff returns how long a micro-batch takes from one stage to the next.
func (j *Job) handOff() sim.Time {
	perStage := j.Config.Parallel.RanksPerStage()
	if j.Config.Parallel.PP < 2 || perStage >= j.Topology.Devices() {
		return 0
	}
	p := j.NCCL.Send(0, perStage, j.Spec.Build(model.Run{Layers: 1}).Output)
	return p.Uncontended()
}

// weightShare returns the memory that the gradient of a chunk's weights still
// needs when that of its input is done, as a share of the activations: kept
// inputs and the gradients of outputs.
func (j *Job) weightShare(layers int) float64 {
	_, r := j.Config.Model.Kinds()
	r.Layers = layers
	chunk := code.NewChunk(j.Spec.Build(r), true)
	written := make([]bool, len(chunk.Saved))
	for i := range chunk.Model.Forward {
		for _, id := range chunk.Model.Forward[i].Writes {
			written[id] = true
		}
	}
	var all, late int64
	for id, t := range chunk.Model.Tensors {
		if chunk.Saved[id] && written[id] {
			all += t.Bytes
		}
	}
	for _, ids := range chunk.WeightFrees {
		for _, id := range ids {
			if chunk.Saved[id] {
				late += chunk.Model.Tensors[id].Bytes
			}
		}
	}
	if all == 0 {
		return 1
	}
	return min(1, float64(late)/float64(all))
}
