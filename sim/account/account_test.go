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

// accounts is the memory of every stage of a job.
func accounts(t *testing.T, c *job.Config) []account.RankMemory {
	t.Helper()
	j, err := job.Build(context.Background(), c, account.Peaks)
	require.NoError(t, err)
	out, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	return out
}

// LoRA trains r (in + out) parameters a matrix and keeps the base in its format.
func TestLoRAHoldsTheFrozenBaseAndTheAdapters(t *testing.T) {
	c := jobtest.Eager(t)
	c.LoRA = model.LoRA{Rank: 8, Targets: "all", Base: "16bit"}
	c.Schedule.Microbatches = 1
	m := accounts(t, c)[0]
	h, ffn, layers := c.Model.Hidden, c.Model.FFN, c.Model.Layers
	adapters := layers * 8 * (h + 3*h + h + h + h + ffn + ffn + h)
	assert.InEpsilon(t, 2*(c.Model.Parameters()+adapters), m.AtPeak[memory.Weights], 0.02)
	assert.InEpsilon(t, 12*adapters, m.AtPeak[memory.Optimizer], 0.25, "small tensors are rounded up to blocks")

	c.LoRA.Base = "4bit"
	four := accounts(t, c)[0]
	matrices := layers * (4*h*h + 2*h*ffn)
	saved := m.AtPeak[memory.Weights] - four.AtPeak[memory.Weights]
	assert.InEpsilon(t, float64(matrices)*(2-4.127/8), saved, 0.05)

	c.LoRA = model.LoRA{}
	assert.Greater(t, accounts(t, c)[0].PeakAllocated, m.PeakAllocated)
}

// The adapters' targets are nested.
func TestLoRATargets(t *testing.T) {
	c := jobtest.Eager(t)
	var last int64
	for _, targets := range []string{"qkv", "attention", "all"} {
		c.LoRA = model.LoRA{Rank: 64, Targets: targets}
		m := accounts(t, c)[0]
		assert.Greater(t, m.AtPeak[memory.Optimizer], last, targets)
		last = m.AtPeak[memory.Optimizer]
	}
}

// An evaluation without a batch size has that of a micro-batch.
func TestEvaluationBatchIsTheMicroBatchs(t *testing.T) {
	c := jobtest.Eager(t)
	c.Schedule.MicrobatchSize = 3
	c.Evaluation = job.Evaluation{Batches: 2, KeepActivations: true}
	assert.Equal(t, 3, c.EvaluationBatch())
	left := accounts(t, c)
	c.Evaluation.BatchSize = 3
	assert.Equal(t, left, accounts(t, c))
	c.Evaluation.BatchSize = 5
	assert.Equal(t, 5, c.EvaluationBatch())
	assert.NotEqual(t, left, accounts(t, c))
}

func TestEvaluationWithAndWithoutGraph(t *testing.T) {
	c := jobtest.Eager(t)
	train := accounts(t, c)[0].PeakAllocated
	c.Evaluation = job.Evaluation{Batches: 2, BatchSize: 4}
	without := accounts(t, c)[0].PeakAllocated
	c.Evaluation.KeepActivations = true
	with := accounts(t, c)[0].PeakAllocated
	assert.GreaterOrEqual(t, without, train)
	assert.Greater(t, with, without)

	c.GPU.Memory = c.GPU.Memory / 2
	c.Evaluation.BatchSize = 128
	m := accounts(t, c)[0]
	require.NotNil(t, m.OOM)
	assert.Equal(t, "evaluation", m.OOM.Phase)
}

func TestPrefetchedBatchesTakeTheirBytes(t *testing.T) {
	c := jobtest.Eager(t)
	before := accounts(t, c)[0].PeakAllocated
	c.Data = job.Data{Workers: 4, Prefetch: 3, GPUPrefetch: true, SampleBytes: 64 << 20}
	assert.Equal(t, before+4*3*64<<20, accounts(t, c)[0].PeakAllocated)
	j, err := job.Build(context.Background(), c, account.Peaks)
	require.NoError(t, err)
	assert.Contains(t, account.Explain(j, 0), account.Line{Kind: memory.Temporaries, Part: "prefetched batches",
		Formula: fmt.Sprintf(
			"4 workers x 3 batches x %d B", c.Schedule.MicrobatchSize*64<<20,
		), Bytes: 4 * 3 * int64(c.Schedule.MicrobatchSize) * 64 << 20})
	c.Data.GPUPrefetch = false
	assert.Equal(t, before, accounts(t, c)[0].PeakAllocated)
}

// Sharding more never takes more: ZeRO 0 to 3 over eight ranks.
func TestZeROSavesMemory(t *testing.T) {
	last := int64(1) << 60
	for _, zero := range []int{0, 1, 2, 3} {
		c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8, ZeRO: zero}, "1f1b", 1)
		jobtest.SetFramework(t, c, "eager")
		peak := accounts(t, c)[0].PeakAllocated
		assert.Less(t, peak, last, "zero = %d", zero)
		last = peak
	}
}

// FSDP holds two units gathered at most, beside the root.
func TestShardedUnitsComeAndGo(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8, ZeRO: 3}, "1f1b", 1)
	c.Training.Recompute, c.Model.Layers = "full", 8
	jobtest.SetFramework(t, c, "eager")
	shallow := accounts(t, c)[0]
	c.Model.Layers = 32
	deep := accounts(t, c)[0]
	layer := float64(c.Model.ParametersOf(model.Run{Layers: 1}))
	boundary := float64(2 * c.Model.SeqLen * c.Model.Hidden)
	grown := float64(deep.PeakAllocated - shallow.PeakAllocated)
	assert.InEpsilon(t, 24*(16*layer/8+boundary), grown, 0.1, "16 bytes a parameter and rank, and the layers' inputs")
}

func TestOptimizerKinds(t *testing.T) {
	last := int64(1) << 60
	for _, kind := range []string{"adam", "sgd-momentum", "adam-8bit", "sgd"} {
		c := jobtest.Eager(t)
		c.Training.Optimizer = kind
		m := accounts(t, c)[0]
		assert.Less(t, m.AtPeak[memory.Optimizer], last, kind)
		last = m.AtPeak[memory.Optimizer]
	}
}

// Square-root checkpoints keep less than all, and recompute less at once than
// one checkpoint for all would.
func TestSquareRootCheckpoints(t *testing.T) {
	peak := func(recompute string, n int) int64 {
		c := jobtest.Bare(jobtest.Eager(t))
		c.Model.Layers, c.Schedule.MicrobatchSize = 16, 32
		c.Training.Recompute, c.Training.RecomputeN = recompute, n
		return accounts(t, c)[0].PeakAllocated
	}
	assert.Equal(t, peak("every-n", 4), peak("sqrt", 0))
	assert.Less(t, peak("sqrt", 0), peak("none", 0))
	assert.Less(t, peak("sqrt", 0), peak("every-n", 16))
}

// Spreading the experts over more ranks divides their weights and gradients:
// what a rank saves is their share, to the byte.
func TestExpertParallelismDividesExperts(t *testing.T) {
	weights := func(ep int) (parameters int64, mem account.RankMemory) {
		c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 8, EP: ep}, "1f1b", 1)
		c.Model.Experts, c.Model.ExpertsPerToken, c.Model.ExpertFFN, c.Model.LinearBias = 8, 2, 2048, false
		j, err := job.Build(context.Background(), c, account.Peaks)
		require.NoError(t, err)
		return c.Model.Layers * 8 * 2 * 1024 * 2048, accountOf(t, j)
	}
	experts, alone := weights(1)
	for _, ep := range []int{2, 4, 8} {
		_, spread := weights(ep)
		saved := alone.AtPeak[0] - spread.AtPeak[0]
		assert.Equal(t, 2*experts*int64(ep-1)/int64(ep), saved, "weights of 2 bytes, ep %d", ep)
	}
}

func accountOf(t *testing.T, j *job.Job) account.RankMemory {
	t.Helper()
	all, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	return all[0]
}

// Sequences of many lengths scatter memory; padding or expandable segments
// undo it, and the same seed draws the same lengths.
func TestLengthsFragmentMemory(t *testing.T) {
	c := jobtest.Eager(t)
	c.Schedule.Microbatches, c.Schedule.MicrobatchSize = 4, 4
	idle := func() int64 {
		m := accounts(t, c)[0]
		return m.PeakReserved - m.PeakAllocated
	}
	fixed := idle()
	c.Data = job.Data{Lengths: "uniform", MinLength: 64, Steps: 6}
	scattered := idle()
	assert.Greater(t, scattered, 2*fixed)
	assert.Equal(t, scattered, idle())
	c.Memory.AllocConf = "expandable_segments:True"
	assert.Less(t, idle(), scattered/4)
	c.Memory.AllocConf, c.Data.Pad = "", true
	assert.Equal(t, fixed, idle())
	c.Seed, c.Data.Pad = 2, false
	assert.NotEqual(t, scattered, idle())
}
