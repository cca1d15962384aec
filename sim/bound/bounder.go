package bound

import (
	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// Bounder bounds the step time and the memory of jobs that differ in layout and
// batch only, without building them: thousands a second. It is for one model,
// device and framework; it may not be used from two goroutines at once.
type Bounder struct {
	compiler *code.Compiler
	chunks   map[chunkKey]chunkBound
	clusters map[int]*clusterBound // by nodes
	kinds    map[string]string     // own names of schedules
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

// clusterBound times tensor-parallel collectives on a cluster.
type clusterBound struct {
	nccl    *nccl.Library
	perNode int
	groups  map[int][]*nccl.Communicator // by tp: those of the first node
	times   map[commOf]sim.Time
}

type commOf struct {
	tp   int
	comm model.Comm
}

// NewBounder makes a bounder for jobs like c.
func NewBounder(c *job.Config) (*Bounder, error) {
	return &Bounder{
		compiler: code.NewCompiler(&c.GPU, c.Framework.Host, 1), chunks: make(map[chunkKey]chunkBound),
		clusters: make(map[int]*clusterBound), kinds: make(map[string]string),
	}, nil
}

// Bound returns the bounds of a job. The time of one whose micro-batches differ
// in length has none.
func (b *Bounder) Bound(c *job.Config) (Bound, error) {
	out, err := b.bound(c)
	if c.Data.Dynamic() {
		out.Time = 0
	}
	return out, err
}

func (b *Bounder) bound(c *job.Config) (Bound, error) {
	spec, err := c.Spec()
	if err != nil {
		return Bound{}, err
	}
	opt, err := job.OptimizerState(c.Training.Optimizer, spec.Precision)
	if err != nil {
		return Bound{}, err
	}
	b.compiler.Pace = c.GPU.SlowestOf(c.Parallel.World())
	costs, err := b.costs(c, spec)
	if err != nil {
		return Bound{}, err
	}
	stages := c.Parallel.PP * max(c.Schedule.VirtualStages, 1)
	layers, err := c.SplitLayers(stages)
	if err != nil { // a split that follows from costs: the mean is no more than the slowest
		return b.mean(c, costs), nil
	}
	at := make([]chunkCost, stages)
	for s, r := range c.Model.Split(layers) {
		at[s] = costs.chunk(&c.Model, r)
	}
	dp := c.GradientGroup(spec)
	experts := dp.OfExperts(c)
	kind := b.kind(c.Schedule.Kind)
	state := c.State(spec, opt, dp.Ranks)
	return Bound{Time: stepBound(c, kind, at), Memory: memoryBound(c, kind, &state, &dp, &experts, at)}, nil
}

// kind returns a schedule's own name.
func (b *Bounder) kind(name string) string {
	k, ok := b.kinds[name]
	if !ok {
		k = job.ScheduleName(name)
		b.kinds[name] = k
	}
	return k
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

// mean bounds a job of which only the sum over the stages is known.
func (b *Bounder) mean(c *job.Config, costs *chunkBound) Bound {
	all := costs.chunk(&c.Model, c.Model.Whole())
	work := all.time().Times(int64(c.Schedule.Microbatches))
	return Bound{Time: work / sim.Time(c.Parallel.PP)}
}

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

// cluster returns the timing of collectives on a job's cluster.
func (b *Bounder) cluster(c *job.Config) (*clusterBound, error) {
	if k, ok := b.clusters[c.Cluster.Nodes]; ok {
		return k, nil
	}
	t, err := interconnect.Build(c.Cluster)
	if err != nil {
		return nil, err
	}
	lib, err := nccl.New(t, c.NCCL)
	if err != nil {
		return nil, err
	}
	perNode := t.Devices() / t.Domains()
	if t.Devices()%t.Domains() != 0 {
		perNode = t.Devices() / t.Nodes()
	}
	k := &clusterBound{nccl: lib, perNode: perNode,
		groups: make(map[int][]*nccl.Communicator), times: make(map[commOf]sim.Time)}
	b.clusters[c.Cluster.Nodes] = k
	return k, nil
}

// time returns the least that a collective takes in any tensor-parallel group.
// Groups are consecutive ranks and nodes are alike, so that those of the first
// node stand for all; nothing is known of groups that leave their node.
func (k *clusterBound) time(tp int, c model.Comm) sim.Time {
	key := commOf{tp, c}
	if t, ok := k.times[key]; ok {
		return t
	}
	least := sim.Forever
	for _, comm := range k.communicators(tp) {
		p := comm.Plan(job.NetOps[c.Collective], c.Bytes)
		least = min(least, p.Uncontended())
	}
	if least == sim.Forever {
		least = 0
	}
	k.times[key] = least
	return least
}

func (k *clusterBound) communicators(tp int) []*nccl.Communicator {
	if list, ok := k.groups[tp]; ok || tp < 2 || k.perNode%tp != 0 {
		return list
	}
	var list []*nccl.Communicator
	for first := 0; first < k.perNode; first += tp {
		devices := make([]int, tp)
		for i := range devices {
			devices[i] = first + i
		}
		c, err := k.nccl.Communicator(nccl.AllReduce, devices)
		if err != nil {
			return nil
		}
		list = append(list, c)
	}
	k.groups[tp] = list
	return list
}

// stepBound is the longest that any pipeline rank needs: the way of the first
// micro-batch to it, all of its work and, where backwards are not split, the way
// of the last gradient from it. Chunks are dealt out in a loop; for any other
// placement only the work counts.
func stepBound(c *job.Config, kind string, at []chunkCost) sim.Time {
	m, pp := int64(c.Schedule.Microbatches), c.Parallel.PP
	work := make([]sim.Time, pp)
	var total sim.Time
	for s, k := range at {
		all := k.time().Times(m)
		work[s%pp], total = work[s%pp].Plus(all), total.Plus(all)
	}
	loop, whole := placementOf(kind)
	if !loop {
		return total / sim.Time(pp)
	}
	var longest, head, tail sim.Time
	for r := range pp {
		t := head.Plus(work[r])
		if whole {
			t = t.Plus(tail)
		}
		longest = max(longest, t)
		head, tail = head.Plus(at[r].forward), tail.Plus(at[r].input.Plus(at[r].weight))
	}
	return longest
}

// placementOf reports whether a schedule deals stages out in a loop, and
// whether it runs every backward as a whole.
func placementOf(kind string) (loop, whole bool) {
	switch kind {
	case "1f1b", "gpipe", "interleaved":
		return true, true
	case "zb-h1", "zb-h2":
		return true, false
	}
	return false, false
}

// inFlight returns how many micro-batches a rank of a pipeline has begun, at
// least, before it ends its first: each is kept on one of its chunks.
func inFlight(c *job.Config, kind string, rank int) int64 {
	m, left := int64(c.Schedule.Microbatches), int64(c.Parallel.PP-rank)
	switch kind {
	case "gpipe":
		return m
	case "1f1b":
		return min(m, left)
	}
	return 1
}

// memoryBound is the fullest rank's weights, gradients, optimizer states and
// activations, without temporaries, communicators and fragmentation.
func memoryBound(
	c *job.Config, kind string, state *job.State, dp, experts *job.GradientGroup, at []chunkCost,
) int64 {
	pp := c.Parallel.PP
	if loop, _ := placementOf(kind); !loop {
		return 0
	}
	var most int64
	for r := range pp {
		var parameters, apart, saved int64
		for s := r; s < len(at); s += pp {
			parameters += at[s].parameters
			apart += at[s].experts
			saved += at[s].saved
		}
		activations := inFlight(c, kind, r) * saved
		if len(at) > pp { // the first micro-batch's backward begins when it is through all chunks
			activations = saved
		}
		owned := parameters
		if dp.Zero >= 1 {
			owned = (parameters-apart)/dp.Ranks + apart/experts.Ranks
		}
		most = max(most, leastBytes(c, state, parameters, owned, activations))
	}
	return most + int64(c.GPU.ContextBytes)
}
