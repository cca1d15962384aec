package scenarios

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim/account"
	"trainsim/sim/job"
)

// accountOf is the memory of the fullest stage of a built-in scenario.
func accountOf(t *testing.T, name string, sets ...string) account.RankMemory {
	t.Helper()
	cfg, err := LoadWith(name, sets)
	require.NoError(t, err)
	j, err := job.Build(context.Background(), cfg, account.Peaks)
	require.NoError(t, err)
	accounts, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	return accounts[account.Fullest(accounts)]
}

const gib = 1 << 30

func TestLoRAScenarios(t *testing.T) {
	assert.True(t, fitsIn(accountOf(t, "70b-lora-8xa800")))
	m := accountOf(t, "70b-lora-8xa800-oom")
	require.NotNil(t, m.OOM)
	assert.Equal(t, "start-up", m.OOM.Phase)
	assert.InDelta(t, 129*gib, m.AtPeak[memory.Weights], gib, "138 GB of frozen weights on every card")
}

func fitsIn(m account.RankMemory) bool { return m.OOM == nil }

func TestFragmentationScenarios(t *testing.T) {
	idle := func(name string) int64 {
		m := accountOf(t, name)
		assert.True(t, fitsIn(m), name)
		return m.PeakReserved - m.PeakAllocated
	}
	scattered := idle("fragmentation-lengths")
	assert.Greater(t, scattered, int64(4*gib))
	assert.Less(t, idle("fragmentation-expandable"), int64(gib/2))
	assert.Less(t, idle("fragmentation-padded"), scattered/3)
}

func TestEvaluationAndPrefetchScenarios(t *testing.T) {
	m := accountOf(t, "evaluation-with-graph")
	require.NotNil(t, m.OOM)
	assert.Equal(t, "evaluation", m.OOM.Phase)
	assert.True(t, fitsIn(accountOf(t, "evaluation-no-grad")))
	assert.False(t, fitsIn(accountOf(t, "prefetch-32x8")))
	assert.True(t, fitsIn(accountOf(t, "prefetch-32x2")))
}

// Figures that people quote.
func TestQuotedActivations(t *testing.T) {
	for name, want := range map[string]float64{
		"hidden768-batch8": 2.25 + 0.8, "hidden768-batch32": 9 + 3.1, "bert-large-no-checkpoints": 12.1,
		"bert-large-sqrt": 2.4,
	} {
		assert.InEpsilon(t, want*gib, accountOf(t, name).AtPeak[memory.Activations], 0.05, name)
	}
	// What the scenarios' headers say of other attention kernels, the head aside.
	for name, layers := range map[string][2]float64{"hidden768-batch8": {3.4, 4.9},
		"hidden768-batch32": {13.5, 19.4}} {
		whole, bare := accountOf(t, name), accountOf(t, name, "model.bare=true")
		head := whole.AtPeak[memory.Activations] - bare.AtPeak[memory.Activations]
		for i, dropout := range []string{"false", "true"} {
			m := accountOf(t, name, "model.attention=unfused", "training.dropout="+dropout)
			assert.InEpsilon(t, layers[i]*gib, m.AtPeak[memory.Activations]-head, 0.02, "%s with dropout %s", name,
				dropout)
		}
	}
}

// Of allocators only PyTorch's native one is modelled.
func TestOtherAllocatorsAreRefused(t *testing.T) {
	_, err := LoadWith("1b-static", []string{"memory.alloc_conf=backend:cudaMallocAsync"})
	require.ErrorContains(t, err, "memory.alloc_conf: backend:cudaMallocAsync")
	_, err = LoadWith("1b-static", []string{"memory.alloc_conf=backend:native"})
	require.NoError(t, err)
}
