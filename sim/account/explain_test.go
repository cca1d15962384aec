package account_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
)

// An explanation adds up to what the account finds, but for rounding.
func TestExplanationAddsUp(t *testing.T) {
	for _, c := range []*job.Config{
		jobtest.Eager(t), jobtest.Small(t, job.Parallel{TP: 2, PP: 2, DP: 2, ZeRO: 1, SequenceParallel: true}, "1f1b", 4),
		jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8, ZeRO: 3}, "1f1b", 1),
	} {
		j, err := job.Build(context.Background(), c, account.Peaks)
		require.NoError(t, err)
		ranks, err := account.Replay(context.Background(), j, false)
		require.NoError(t, err)
		for s := range ranks {
			var by [memory.NumKinds]int64
			for _, l := range account.Explain(j, s) {
				if !l.Detail {
					by[l.Kind] += l.Bytes
				}
			}
			for _, k := range []memory.Kind{
				memory.Weights, memory.Gradients, memory.Optimizer, memory.CommBuffers, memory.Context,
			} {
				assert.InDelta(t, by[k], ranks[s].AtPeak[k], 0.06*float64(by[k])+1<<20, "%s of stage %d", k, s)
			}
		}
	}
}

// What an evaluation that keeps its activations holds is explained, and is what
// the account finds at a peak there.
func TestExplainedEvaluation(t *testing.T) {
	for _, recompute := range []string{"none", "full"} {
		c := jobtest.Eager(t)
		c.Training.Recompute = recompute
		c.Evaluation = job.Evaluation{Batches: 2, BatchSize: 64, KeepActivations: true}
		j, err := job.Build(context.Background(), c, account.Peaks)
		require.NoError(t, err)
		ranks, err := account.Replay(context.Background(), j, false)
		require.NoError(t, err)
		assert.True(t, ranks[0].PeakInEvaluation)
		var lines []account.Line
		for _, l := range account.Explain(j, 0) {
			if l.Evaluation {
				lines = append(lines, l)
			}
		}
		require.Len(t, lines, 1)
		assert.InEpsilon(t, ranks[0].AtPeak[memory.Activations], lines[0].Bytes, 0.01)
		var layers, each, ends, work int64
		_, err = fmt.Sscanf(
			lines[0].Formula, "a pass of 64 sequences: %d layers x %d B + %d B at the ends + %d B", &layers, &each,
			&ends, &work,
		)
		require.NoError(t, err, lines[0].Formula)
		assert.Equal(t, lines[0].Bytes, layers*each+ends+work)
		c.Evaluation.Batches = 0
		assert.False(t, accounts(t, c)[0].PeakInEvaluation)
	}
}

// With frozen weights that FSDP shards, what a recomputation gathers again comes
// and goes unit by unit: it is not all there at once.
func TestExplainedGatheredWeights(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8, ZeRO: 3}, "1f1b", 1)
	c.Training.Recompute = "full"
	jobtest.SetFramework(t, c, "eager")
	c.LoRA = model.LoRA{Rank: 8, Targets: "all", Base: "16bit"}
	c.Model.Layers = 24
	j, err := job.Build(context.Background(), c, account.Peaks)
	require.NoError(t, err)
	ranks, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	var weights int64
	for _, l := range account.Explain(j, 0) {
		if l.Kind == memory.Weights {
			weights += l.Bytes
		}
	}
	assert.InEpsilon(t, ranks[0].AtPeak[memory.Weights], weights, 0.02)
}

// What is explained of the activations adds up to those of the account, also
// where chunks have their most at different times and where the gradients of
// weights come late.
func TestExplainedActivationsAddUp(t *testing.T) {
	for _, s := range []struct {
		kind, recompute string
		chunks          int
	}{
		{"1f1b", "none", 1}, {"gpipe", "none", 1}, {"interleaved", "none", 2}, {"zb-h1", "none", 1},
		{"zb-h1", "full", 1}, {"zb-v", "none", 2}, {"dualpipev", "none", 2},
	} {
		t.Run(s.kind+" "+s.recompute, func(t *testing.T) {
			c := jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 2, ZeRO: 1}, s.kind, 8)
			c.Schedule.VirtualStages, c.Training.Recompute = s.chunks, s.recompute
			c.Model.Bare, c.Schedule.MicrobatchSize = true, 4
			j, err := job.Build(context.Background(), c, account.Peaks)
			require.NoError(t, err)
			ranks, err := account.Replay(context.Background(), j, false)
			require.NoError(t, err)
			for r := range ranks {
				var sum int64
				for _, l := range account.Explain(j, r) {
					if l.Kind == memory.Activations && !l.Detail {
						sum += l.Bytes
					}
				}
				assert.InEpsilon(t, ranks[r].AtPeak[memory.Activations], sum, 0.08, "rank %d", r)
			}
		})
	}
}
