package bound

import (
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// costs returns the costs of the chunks of a job, computed once for all jobs
// that cut layers alike.
func (b *Bounder) costs(c *job.Config, spec *model.Spec) (*chunkBound, error) {
	key := chunkKey{
		tp: c.Parallel.TP, cp: c.Parallel.CP, microbatch: c.Schedule.MicrobatchSize, sequence: spec.SequenceParallel,
		trades: spec.TradeHeads, recompute: c.Training.Recompute, zero: max(c.Parallel.ZeRO, 1),
		nodes: c.Cluster.Nodes,
		ep:    c.Parallel.EP, etp: c.Parallel.ExpertTP(),
	}
	if k, ok := b.chunks[key]; ok {
		return &k, nil
	}
	cluster, err := b.cluster(c)
	if err != nil {
		return nil, err
	}
	regular := !c.Data.Dynamic()
	if spec.Checkpointing.Every > 1 { // layers differ: as if nothing were recomputed or kept
		spec.Checkpointing, regular = model.Checkpointing{}, false
	}
	cost := func(r model.Run, layers int, embeds, ends bool) chunkCost {
		r.Layers, r.Embeds, r.Ends = layers, embeds, ends
		return b.cost(spec.Build(r), c.Parallel.TP, cluster, regular)
	}
	others, base := c.Model.Kinds()
	one := cost(base, 1, false, false)
	k := chunkBound{
		layer: cost(base, 2, false, false).plus(one, -1),
		first: cost(base, 1, true, false), last: cost(base, 1, false, true), both: cost(base, 1, true, true),
	}
	for _, kind := range others {
		k.others = append(k.others, cost(kind, 1, false, false).plus(one, -1))
	}
	b.chunks[key] = k
	return &k, nil
}

func (b *Bounder) cost(chunk *model.Chunk, tp int, cluster *clusterBound, saves bool) chunkCost {
	input, weight := chunk.Split()
	collective := func(c model.Comm) sim.Time { return cluster.time(tp, c) }
	out := chunkCost{
		forward: b.compiler.BlockingTime(chunk.Forward, collective), input: b.compiler.BlockingTime(input, collective),
		weight:     b.compiler.BlockingTime(weight, collective),
		parameters: chunk.Parameters(), experts: chunk.ParametersOf(model.ByExpert),
	}
	if saves {
		out.saved = keptBytes(chunk)
	}
	return out
}

// chunkKey is what decides the costs of a layer.
type chunkKey struct {
	tp, cp, microbatch int
	sequence, trades   bool
	recompute          string
	zero               int // 0 and 1 alike
	ep, etp            int
	nodes              int
}

// chunkBound holds the costs of one layer and what embedding and head add.
type chunkBound struct {
	layer, first, last, both chunkCost
	others                   []chunkCost // what a layer of each other kind has more than layer
}

// chunk returns the cost of a run of layers.
func (k *chunkBound) chunk(m *model.Config, r model.Run) chunkCost {
	cost := k.ends(int64(r.Layers), r.Embeds, r.Ends)
	others, _ := m.Kinds()
	for i, kind := range others {
		cost = cost.plus(k.others[i], int64(m.Count(r, kind)))
	}
	return cost
}

// ends returns the cost of so many layers of the last one's kind, with the ends.
func (k *chunkBound) ends(n int64, embeds, ends bool) chunkCost {
	switch {
	case embeds && ends:
		return k.both.plus(k.layer, n-1)
	case embeds:
		return k.first.plus(k.layer, n-1)
	case ends:
		return k.last.plus(k.layer, n-1)
	}
	return chunkCost{}.plus(k.layer, n)
}

// chunkCost is a lower bound of one micro-batch's times on a chunk, the bytes
// that it keeps from forward to backward, and the chunk's parameters.
type chunkCost struct {
	forward, input, weight sim.Time
	saved, parameters      int64
	experts                int64 // parameters of experts that are apart
}

func (a chunkCost) plus(b chunkCost, n int64) chunkCost {
	return chunkCost{
		a.forward.Plus(b.forward.Times(n)), a.input.Plus(b.input.Times(n)), a.weight.Plus(b.weight.Times(n)),
		a.saved + n*b.saved, a.parameters + n*b.parameters, a.experts + n*b.experts,
	}
}

// time is a micro-batch's, forward and backward.
func (a *chunkCost) time() sim.Time { return a.forward.Plus(a.input).Plus(a.weight) }

// keptBytes is what a chunk's forward writes and leaves for its backward.
func keptBytes(chunk *model.Chunk) int64 {
	var sum int64
	for id, left := range code.SavedByForward(
		chunk, model.Lifetimes(chunk.Tensors, chunk.Forward, chunk.Backward)[0],
	) {
		if t := &chunk.Tensors[id]; left && !t.Kept { // those all micro-batches share
			sum += t.Bytes
		}
	}
	return sum
}
