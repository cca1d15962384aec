package step_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
)

// hybrid is the small model on two nodes, with shards that span a node or all.
func hybrid(t *testing.T, group, pp int) *job.Config {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: pp, DP: 16 / pp, ZeRO: 3, FSDPGroup: group}, "1f1b", 2)
	jobtest.SetFramework(t, c, "eager")
	return c
}

func bytesOf(r *step.Result, group string) (sum, count int64) {
	for _, c := range r.Comms {
		if c.Group == group {
			sum += c.Bytes * c.Count
			count += c.Count
		}
	}
	return sum, count
}

// Hybrid shards gather and scatter within the group, as often as full ones, and
// sum each shard over the groups once for every unit and micro-batch.
func TestHybridShards(t *testing.T) {
	for _, pp := range []int{1, 2} {
		folded := run(t, hybrid(t, 8/pp, pp), step.Options{Fold: true})
		full, half := run(t, hybrid(t, 16/pp, pp), step.Options{}), run(t, hybrid(t, 8/pp, pp), step.Options{})
		_, fullCount := bytesOf(full, "dp")
		_, halfCount := bytesOf(half, "dp")
		assert.Equal(t, fullCount, halfCount)
		none, _ := bytesOf(full, "copies")
		assert.Zero(t, none)

		sum, count := bytesOf(half, "copies")
		for _, c := range half.Comms {
			if c.Group == "dp" && c.Collective == "reduce-scatter" {
				assert.Equal(t, c.Count, count, "one sum a scatter")
			}
		}
		assert.Positive(t, sum)
		assert.Equal(t, half.StepTime, folded.StepTime)
		assert.Greater(t, half.Memory[0].PeakAllocated, full.Memory[0].PeakAllocated)
	}
}

// Shards within nodes spare a slow network the gathers.
func TestHybridSparesTheNetwork(t *testing.T) {
	step1 := func(group int) float64 {
		c := hybrid(t, group, 1)
		c.Cluster.NICBandwidth = 1e9
		return run(t, c, step.Options{}).StepTime.Seconds()
	}
	assert.Less(t, step1(8), 0.6*step1(16))
}

// A group over all replicas is no hybrid, whatever context parallelism adds.
func TestShardsSpanContextParallelism(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 2, CP: 4, ZeRO: 3, FSDPGroup: 2}, "1f1b", 1)
	all := run(t, c, step.Options{})
	c.Parallel.FSDPGroup = 0
	assert.Equal(t, run(t, c, step.Options{}).Memory[0].PeakAllocated, all.Memory[0].PeakAllocated)
}
