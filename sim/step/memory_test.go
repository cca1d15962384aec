package step_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
	"trainsim/sim/step"
	"trainsim/sim/trace"
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

// eager is a job of plain PyTorch on one GPU.
func eager(t *testing.T) *job.Config {
	c := jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: 1}, "1f1b", 2)
	jobtest.SetFramework(t, c, "eager")
	return c
}

// LoRA trains r (in + out) parameters a matrix and keeps the base in its format.
func TestLoRAHoldsTheFrozenBaseAndTheAdapters(t *testing.T) {
	c := eager(t)
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
	c := eager(t)
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
	c := eager(t)
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
	c := eager(t)
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
	c := eager(t)
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

// Sequences of many lengths scatter memory; padding or expandable segments
// undo it, and the same seed draws the same lengths.
func TestLengthsFragmentMemory(t *testing.T) {
	c := eager(t)
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

func TestDataIsChecked(t *testing.T) {
	for _, d := range []job.Data{
		{Lengths: "uniform"}, {Lengths: "uniform", MinLength: 2000}, {Lengths: "list"}, {
			Lengths: "list", LengthList: []int{0},
		}, {Lengths: "zipf"},
	} {
		assert.Error(t, d.Validate(1024), "%+v", d)
	}
	assert.NoError(t, (&job.Data{Lengths: "list", LengthList: []int{5, 1024}}).Validate(1024))
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
		c := eager(t)
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
		c := jobtest.Bare(eager(t))
		c.Model.Layers, c.Schedule.MicrobatchSize = 16, 32
		c.Training.Recompute, c.Training.RecomputeN = recompute, n
		return accounts(t, c)[0].PeakAllocated
	}
	assert.Equal(t, peak("every-n", 4), peak("sqrt", 0))
	assert.Less(t, peak("sqrt", 0), peak("none", 0))
	assert.Less(t, peak("sqrt", 0), peak("every-n", 16))
}

// An explanation adds up to what the account finds, but for rounding.
func TestExplanationAddsUp(t *testing.T) {
	for _, c := range []*job.Config{
		eager(t), jobtest.Small(t, job.Parallel{TP: 2, PP: 2, DP: 2, ZeRO: 1, SequenceParallel: true}, "1f1b", 4),
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
		c := eager(t)
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

// The snapshot holds the peak's bytes, and its history ends there.
func TestSnapshotAtPeak(t *testing.T) {
	j, err := job.Build(context.Background(), eager(t), account.Peaks)
	require.NoError(t, err)
	ranks, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	s, err := account.Snapshot(j, 0, true)
	require.NoError(t, err)
	inUse := activeBlocks(s)
	assert.Equal(t, ranks[0].PeakAllocated, sum(inUse))
	assert.Equal(t, inUse, tracedBlocks(s))
}

// A job that fails leaves the allocator as the failing request met it.
func TestSnapshotAtAFailure(t *testing.T) {
	c := eager(t)
	c.Evaluation = job.Evaluation{Batches: 2, BatchSize: 128, KeepActivations: true}
	c.GPU.Memory /= 2
	j, err := job.Build(context.Background(), c, account.Peaks)
	require.NoError(t, err)
	ranks, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	require.NotNil(t, ranks[0].OOM)
	s, err := account.Snapshot(j, 0, true)
	require.NoError(t, err)
	trace := s.Traces[0]
	assert.Equal(t, memory.ActionOOM, trace[len(trace)-1].Action)
	inUse := activeBlocks(s)
	assert.Equal(t, ranks[0].OOM.Err.Allocated, sum(inUse))
	assert.Equal(t, inUse, tracedBlocks(s))
	var reserved int64
	for i := range s.Segments {
		reserved += s.Segments[i].Size
	}
	assert.Equal(t, ranks[0].OOM.Err.Reserved, reserved)
}

// The time of a failure is that of its operator: when the stack of what a larger
// device would hold first has the bytes that were not there.
func TestTimeOfAFailure(t *testing.T) {
	c := eager(t)
	c.Evaluation = job.Evaluation{Batches: 2, BatchSize: 128, KeepActivations: true}
	c.GPU.Memory /= 2
	res := run(t, c, step.Options{})
	require.NotNil(t, res.OOM)
	assert.Equal(t, 0, res.OOM.Step, "the first evaluation")
	e := res.OOM.Err
	var stack int64
	held := map[int32]int64{}
	for _, s := range res.Recording.Samples() {
		if k := res.Recording.Counters[s.Counter]; k.Kind != trace.MemoryByKind {
			continue
		}
		stack += s.Value - held[s.Counter]
		held[s.Counter] = s.Value
		if stack >= e.Allocated+e.External+e.Rounded {
			assert.Equal(t, s.At, res.OOMAt)
			return
		}
	}
	assert.Fail(t, "the stack never grows so high")
}

// activeBlocks is what a snapshot's segments have in use, bytes by address.
func activeBlocks(s *memory.Snapshot) map[int64]int64 {
	out := make(map[int64]int64)
	for i := range s.Segments {
		for _, b := range s.Segments[i].Blocks {
			if b.State != memory.Inactive {
				out[b.Addr] = b.Size
			}
		}
	}
	return out
}

// tracedBlocks is what a snapshot's trace leaves in use, with the bytes of the
// segments' blocks: the trace has what was asked for.
func tracedBlocks(s *memory.Snapshot) map[int64]int64 {
	size, out := make(map[int64]int64), make(map[int64]int64)
	for i := range s.Segments {
		for _, b := range s.Segments[i].Blocks {
			size[b.Addr] = b.Size
		}
	}
	for _, e := range s.Traces[0] {
		switch e.Action {
		case memory.ActionAlloc:
			out[e.Addr] = size[e.Addr]
		case memory.ActionFreeCompleted:
			delete(out, e.Addr)
		}
	}
	return out
}

func sum(blocks map[int64]int64) (bytes int64) {
	for _, n := range blocks {
		bytes += n
	}
	return bytes
}

// A layout that lives on retries pays for the driver's work; with room it is
// free of it.
func TestRetriesCostTime(t *testing.T) {
	c := eager(t)
	c.Schedule.Microbatches, c.Schedule.MicrobatchSize = 4, 4
	c.Data = job.Data{Lengths: "uniform", MinLength: 64, Steps: 6}
	c.Memory.AllocConf = "max_split_size_mb:21" // large blocks serve their like only
	free := run(t, c, step.Options{})
	require.Nil(t, free.OOM)
	m, slowest := free.Memory[0], free.StepTime
	for k := int64(15); k > 0; k-- {
		c.GPU.Memory = sim.Bytes(m.PeakAllocated + m.Outside + (m.PeakReserved-m.PeakAllocated)*k/16)
		tight := run(t, c, step.Options{})
		if tight.OOM != nil {
			break
		}
		slowest = max(slowest, tight.StepTime)
	}
	assert.Greater(t, slowest, free.StepTime)
	c.Memory.AllocConf = "expandable_segments:True"
	assert.Less(t, run(t, c, step.Options{}).StepTime, slowest)
}
