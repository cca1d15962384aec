package step_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/memory"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
	"trainsim/sim/step"
)

// In a pipeline FSDP gathers every parameter once a step and reduces every
// gradient once, however many micro-batches run.
func TestShardedPipelineGathersOnce(t *testing.T) {
	moved := func(microbatches int, kind string, chunks int) map[string]int64 {
		c := jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: 4, ZeRO: 3}, kind, microbatches)
		c.Schedule.VirtualStages = chunks
		jobtest.SetFramework(t, c, "eager")
		out := map[string]int64{}
		for _, total := range run(t, c, step.Options{}).Comms {
			if total.Group == "dp" {
				out[total.Collective] += total.Bytes
			}
		}
		return out
	}
	for _, s := range []struct {
		kind   string
		chunks int
	}{{"1f1b", 1}, {"interleaved", 2}, {"zb-h1", 1}} {
		few, many := moved(2, s.kind, s.chunks), moved(8, s.kind, s.chunks)
		assert.Equal(t, few, many, s.kind)
		assert.InEpsilon(
			t, 2*few["all-gather"], few["reduce-scatter"], 1e-3,
			"bf16 weights, fp32 gradients; the busiest stages differ by a norm",
		)
	}
}

// Between the first forward and the last backward of a step a rank holds its
// whole stage, weights in 16 bits and gradients in 32, beside its fp32 shards.
func TestShardedPipelineHoldsItsStage(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: 4, ZeRO: 3}, "1f1b", 4)
	jobtest.SetFramework(t, c, "eager")
	res := run(t, c, step.Options{})
	m := &res.Memory[0]
	n := c.Model.ParametersOf(model.Run{Embeds: true, Layers: int(c.Model.Layers) / 2})
	assert.InEpsilon(t, float64(3*n), float64(m.AtPeak[memory.Weights]), 0.02, "a quarter of 4 bytes, and 2")
}
