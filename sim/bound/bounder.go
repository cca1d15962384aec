package bound

import (
	"trainsim/sim"
	"trainsim/sim/code"
	"trainsim/sim/job"
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

// NewBounder makes a bounder for jobs like c.
func NewBounder(c *job.Config) *Bounder {
	return &Bounder{
		compiler: code.NewCompiler(&c.GPU, c.Framework.Host, 1), chunks: make(map[chunkKey]chunkBound),
		clusters: make(map[int]*clusterBound), kinds: make(map[string]string),
	}
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

// mean bounds a job of which only the sum over the stages is known.
func (b *Bounder) mean(c *job.Config, costs *chunkBound) Bound {
	all := costs.chunk(&c.Model, c.Model.Whole())
	work := all.time().Times(int64(c.Schedule.Microbatches))
	return Bound{Time: work / sim.Time(c.Parallel.PP)}
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
