package job

import (
	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

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

// handOff returns how long a micro-batch takes from one stage to the next.
func (j *Job) handOff() sim.Time {
	columns := j.Config.Parallel.RanksPerStage()
	if j.Config.Parallel.PP < 2 || columns >= j.Topology.Devices() {
		return 0
	}
	p := j.NCCL.Send(0, columns, j.Spec.Build(model.Run{Layers: 1}).Output)
	return p.Uncontended()
}

// balanceTime spreads the layers so that the slowest stage is as fast as it
// can be: each layer goes to the stage that is then the fastest. Every stage
// costs the same a layer, so that this is optimal; layers of other kinds than the
// last one's are taken for the first stage's.
func (j *Job) balanceTime(stages int) []int {
	cost := func(r model.Run) float64 {
		c := j.stageCost(r)
		return c.Forward + c.BackwardInput + c.BackwardWeight
	}
	m := &j.Config.Model
	others, base := m.Kinds()
	perLayer := cost(base)
	load := make([]float64, stages)
	all := m.Whole()
	if r := base; all.Embeds {
		r.Embeds = true
		load[0] += max(0, cost(r)-perLayer)
	}
	if r := base; all.Ends {
		r.Ends = true
		load[stages-1] += max(0, cost(r)-perLayer)
	}
	for _, kind := range others {
		load[0] += float64(float64(m.Count(all, kind)) * (cost(kind) - perLayer))
	}
	out := make([]int, stages)
	for range all.Layers {
		best := 0
		for s := range load {
			if load[s] < load[best] {
				best = s
			}
		}
		out[best]++
		load[best] += perLayer
	}
	return out
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
