package job

import (
	"maps"
	"slices"
)

// Work is what a step processes over all replicas, a mean over the steps where
// sequences differ in length.
type Work struct {
	// Tokens are those of the sequences themselves, Computed also those that
	// pad them.
	Tokens, Computed float64
	// ModelFLOPs are the operations of forward and backward on the computed
	// tokens, RecomputedFLOPs those of recomputation.
	ModelFLOPs, RecomputedFLOPs float64
}

// Work returns what a step of the job processes.
func (j *Job) Work() Work {
	tokens := float64(j.Config.Tokens())
	w := Work{
		Tokens: tokens, Computed: tokens, ModelFLOPs: j.Spec.TrainingFLOPs() * tokens,
		RecomputedFLOPs: j.Spec.RecomputedFLOPs() * tokens,
	}
	if j.draws == nil {
		return w
	}
	samples := float64(j.Config.Samples())
	w.Tokens = samples * float64(j.draws.tokens) / float64(j.draws.count)
	if j.lengths == nil {
		return w
	}
	byLength := make(map[int64]int64)
	for _, steps := range j.lengths {
		for _, list := range steps {
			for _, n := range list {
				byLength[n]++
			}
		}
	}
	return j.workOf(byLength, w.Tokens, samples)
}

// workOf averages over the micro-batches of each length.
func (j *Job) workOf(byLength map[int64]int64, tokens, samples float64) Work {
	w := Work{Tokens: tokens}
	var count, sum int64
	var flops, again float64
	for _, n := range slices.Sorted(maps.Keys(byLength)) {
		spec := j.Spec.OfLength(n)
		many := float64(byLength[n]) * float64(n)
		flops += float64(many * spec.TrainingFLOPs())
		again += float64(many * spec.RecomputedFLOPs())
		count += byLength[n]
		sum += n * byLength[n]
	}
	share := samples / float64(count)
	w.Computed, w.ModelFLOPs, w.RecomputedFLOPs = float64(sum)*share, flops*share, again*share
	return w
}

// Samples returns the sequences of one step over all replicas: the global batch.
func (c *Config) Samples() int64 {
	return int64(c.Schedule.Microbatches) * int64(c.Schedule.MicrobatchSize) * int64(c.Parallel.DP)
}

// Tokens returns the tokens of one step over all replicas.
func (c *Config) Tokens() int64 { return c.Samples() * c.Model.Tokens() }
