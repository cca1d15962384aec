package scenarios_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// simulate runs a built-in scenario with overrides.
func simulate(t *testing.T, name string, sets ...string) *step.Result {
	t.Helper()
	cfg, err := scenarios.LoadWith(name, sets)
	require.NoError(t, err)
	res, err := step.Run(context.Background(), cfg, step.Options{Fold: true})
	require.NoError(t, err)
	return res
}

// samplesPerSecond is the throughput of a run.
func samplesPerSecond(r *step.Result) float64 {
	return float64(r.Job.Config.Samples()) / r.StepTime.Seconds()
}

// static is what weights, gradients and optimizer state take at the peak.
func static(m *account.RankMemory) float64 {
	return float64(m.AtPeak[memory.Weights] + m.AtPeak[memory.Gradients] + m.AtPeak[memory.Optimizer])
}

func TestBaselineFits(t *testing.T) {
	res := simulate(t, "70b-tp4-pp2")
	assert.Nil(t, res.OOM)
	assert.GreaterOrEqual(t, res.Job.Ranks(), 64)
}

// 16 bytes a parameter in mixed precision (Rajbhandari et al. 2020, arXiv
// 1910.02054): 16 GB for 1e9, 112 GB for 7e9 on every card of data
// parallelism, 14 GB when eight cards share them.
func TestStaticMemory(t *testing.T) {
	one := simulate(t, "1b-static")
	assert.Nil(t, one.OOM)
	assert.InEpsilon(t, 16e9, static(&one.Memory[0]), 0.01)
	dp := simulate(t, "7b-dp8-8x24gb")
	require.NotNil(t, dp.OOM)
	assert.Equal(t, "start-up", dp.OOM.Phase)
	assert.InEpsilon(t, 112e9, static(&dp.Memory[0]), 0.02)
	tp := simulate(t, "7b-tp8-8x24gb")
	assert.InEpsilon(t, 14e9, static(&tp.Memory[0]), 0.03)
	pp := simulate(t, "7b-pp8-8x24gb")
	assert.InEpsilon(t, 14e9, static(&pp.Memory[1]), 0.12, "a stage in the middle")
}

// bubble is the mean idle share of the stages.
func bubble(r *step.Result) float64 {
	var idle float64
	for _, s := range r.Stages {
		idle += (s.Warmup + s.Cooldown + s.Imbalance + s.Comm[trace.PP]).Seconds()
	}
	return idle / float64(len(r.Stages)) / r.StepTime.Seconds()
}

func TestBubbles(t *testing.T) {
	assert.InDelta(t, 3.0/11, bubble(simulate(t, "pp4-gpipe-8")), 0.003)
	assert.InDelta(t, 3.0/11, bubble(simulate(t, "pp4-1f1b-8")), 0.008)
	assert.InDelta(t, 3.0/4, bubble(simulate(t, "pp4-gpipe-1")), 0.013)
	held := func(name string) float64 { return float64(simulate(t, name).Memory[0].AtPeak[memory.Activations]) }
	assert.InEpsilon(t, 2, held("pp4-gpipe-8")/held("pp4-1f1b-8"), 0.02, "8 micro-batches against 4")
}

// The gradients' all-reduce takes over 40 % of a small model's step on PCIe;
// accumulating four micro-batches lifts the speed-up over one card.
func TestDataParallelOnPCIe(t *testing.T) {
	single := func(name string) float64 {
		return samplesPerSecond(simulate(t, name, "cluster.gpus_per_node=1", "parallel.dp=1"))
	}
	one, four := simulate(t, "ddp8-small-pcie"), simulate(t, "ddp8-small-pcie-accum4")
	assert.Greater(t, one.Stages[0].Comm[trace.DP].Seconds()/one.StepTime.Seconds(), 0.4)
	// Eight cards lose the exposed all-reduce, and a little to the slowest of them.
	lost := one.Stages[0].Comm[trace.DP].Seconds() / one.StepTime.Seconds()
	assert.InEpsilon(t, 8*(1-lost), samplesPerSecond(one)/single("ddp8-small-pcie"), 0.02)
	assert.Greater(t, samplesPerSecond(four)/single("ddp8-small-pcie-accum4"), 6.0)
}

func TestTensorParallelStaysInANode(t *testing.T) {
	two, one := simulate(t, "tp8-two-nodes"), simulate(t, "tp4-one-node")
	assert.Less(t, samplesPerSecond(two), samplesPerSecond(one), "eight cards over two nodes against four in one")
}

func TestRecomputation(t *testing.T) {
	off, full := simulate(t, "recompute-off"), simulate(t, "recompute-full")
	most := func(r *step.Result) float64 { return float64(r.Memory[0].AtPeak[memory.Activations]) }
	assert.LessOrEqual(t, most(full), most(off)/3)
	longer := full.StepTime.Seconds()/off.StepTime.Seconds() - 1
	assert.InDelta(t, 1.0/3, longer, 0.02, "one forward more beside a forward and a backward of two")
}

func TestNVLinkAgainstPCIe(t *testing.T) {
	assert.Greater(t, simulate(t, "13b-tp2-pp4-pcie").StepTime, simulate(t, "13b-tp2-pp4-nvlink").StepTime)
}

// Spread over a node, the experts fit; with all of them on every rank they do
// not, though a step would take no less time.
func TestExpertsOverANode(t *testing.T) {
	spread, whole := simulate(t, "mixtral-8x7b-ep8"), simulate(t, "mixtral-8x7b-ep8", "parallel.ep=1")
	assert.Nil(t, spread.OOM)
	require.NotNil(t, whole.OOM)
	assert.Greater(t, samplesPerSecond(spread), samplesPerSecond(whole))
	var experts, all float64
	for i := range spread.Memory {
		experts += static(&whole.Memory[i]) - static(&spread.Memory[i])
		all += static(&whole.Memory[i])
	}
	assert.Greater(t, experts/all, 0.5, "most of the state is experts")
}
