package job

import (
	"trainsim/schedule"
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/model"
)

// stageCost estimates what one micro-batch takes on a chunk, each operator and
// collective alone: what schedules that plan with costs, and the balancing of
// layers, go by. Units are picoseconds.
func (j *Job) stageCost(shape code.Shape) schedule.StageCost {
	chunk := j.Spec.Build(j.firstLayer(shape), shape.Layers, shape.First, shape.Last)
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
	known := make(map[code.Shape]schedule.StageCost)
	for s := range layers {
		shape := j.shape(s, layers)
		cost, ok := known[shape]
		if !ok {
			cost = j.stageCost(shape)
			known[shape] = cost
		}
		c.PerStage = append(c.PerStage, cost)
	}
	c.StageCost = c.PerStage[len(layers)/2]
	return c
}

// shape returns the shape of a global stage's chunk; layers are those of every
// stage.
func (j *Job) shape(stage int, layers []int) code.Shape {
	before := 0
	for _, n := range layers[:stage] {
		before += n
	}
	ends, n := !j.Config.Model.Bare, layers[stage]
	dense := min(max(int(j.Config.Model.DenseLayers)-before, 0), n)
	return code.Shape{Layers: n, Dense: dense, First: ends && stage == 0, Last: ends && stage == len(layers)-1}
}

// firstLayer returns the number of a first layer of chunks of that shape.
func (j *Job) firstLayer(shape code.Shape) int { return int(j.Config.Model.DenseLayers) - shape.Dense }

// handOff returns how long a micro-batch takes from one stage to the next.
func (j *Job) handOff() sim.Time {
	columns := j.Config.Parallel.RanksPerStage()
	if j.Config.Parallel.PP < 2 || columns >= j.Topology.Devices() {
		return 0
	}
	p := j.NCCL.Send(0, columns, j.Spec.Build(0, 1, false, false).BoundaryBytes)
	return p.Uncontended()
}

// balanceTime spreads the layers so that the slowest stage is as fast as it
// can be: each layer goes to the stage that is then the fastest. Every stage
// costs the same a layer, so that this is optimal.
func (j *Job) balanceTime(stages int) []int {
	sum := func(c schedule.StageCost) float64 { return c.Forward + c.BackwardInput + c.BackwardWeight }
	perLayer := sum(j.stageCost(code.Shape{Layers: 1}))
	load := make([]float64, stages)
	if !j.Config.Model.Bare {
		load[0] += max(0, sum(j.stageCost(code.Shape{Layers: 1, First: true}))-perLayer)
		load[stages-1] += max(0, sum(j.stageCost(code.Shape{Layers: 1, Last: true}))-perLayer)
	}
	if n := j.Config.Model.DenseLayers; n > 0 { // on the first stage, each of another length
		load[0] += float64(float64(n) * (sum(j.stageCost(code.Shape{Layers: 1, Dense: 1})) - perLayer))
	}
	out := make([]int, stages)
	for range j.Config.Model.Layers {
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
	shape := code.Shape{Layers: layers}
	cc := code.NewChunkCode(shape, j.Spec.Build(j.firstLayer(code.Shape{}), layers, false, false), true)
	written := make([]bool, len(cc.Saved))
	for i := range cc.Chunk.Forward {
		for _, id := range cc.Chunk.Forward[i].Writes {
			written[id] = true
		}
	}
	var all, late int64
	for id, t := range cc.Chunk.Tensors {
		if cc.Saved[id] && written[id] {
			all += t.Bytes
		}
	}
	for _, ids := range cc.WeightTensors {
		for _, id := range ids {
			if cc.Saved[id] {
				late += cc.Chunk.Tensors[id].Bytes
			}
		}
	}
	if all == 0 {
		return 1
	}
	return min(1, float64(late)/float64(all))
}
