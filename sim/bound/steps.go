package bound

import (
	"trainsim/sim"
	"trainsim/sim/framework"
	"trainsim/sim/job"
)

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

// leastBytes is the least peak of a rank that keeps activations alive beside what
// its parameters, of which it owns some, take from the second step on. Only
// Megatron's gradients are there before the step's first backward.
func leastBytes(c *job.Config, s *job.State, parameters, owned, activations int64) int64 {
	if s.Layout == job.ShardedStates {
		owned = parameters / c.Shards()
	}
	held := s.Weights.Of(parameters, owned) + s.Master.Of(parameters, owned) + s.Moments.Of(parameters, owned)
	gradients := s.Gradients.Of(parameters, owned)
	if s.Layout == framework.MegatronStates {
		return held + gradients + activations
	}
	return held + max(gradients, activations)
}
