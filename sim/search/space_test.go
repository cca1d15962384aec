package search

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
)

func planSpace(t *testing.T, name string) *Space {
	base, err := scenarios.Load(name)
	require.NoError(t, err)
	return NewSpace(base)
}

// Every layout fills the cluster, keeps the global batch and cuts the model
// evenly; no layout is there twice; and a scenario file with it loads, unless
// the schedule cannot take its counts.
func TestLayoutsAreJobs(t *testing.T) {
	s := planSpace(t, "70b-tp4-pp2")
	all := s.Layouts()
	assert.Greater(t, len(all), 1000)
	seen := map[Layout]bool{}
	loaded := 0
	for i, l := range all {
		require.False(t, seen[l], "%+v", l)
		seen[l] = true
		cfg := l.Apply(s.Base)
		require.Equal(t, 64, cfg.Parallel.World())
		require.EqualValues(t, 128, cfg.Samples())
		require.Len(t, l.Values(), len(PlanKeys()))
		if i%151 != 0 {
			continue
		}
		var b bytes.Buffer
		require.NoError(t, scenarios.Write(&b, cfg))
		again, err := scenarios.LoadReader(&b, "plan.toml", nil)
		if err != nil {
			assert.ErrorContains(t, err, "schedule.", "%+v", l)
			continue
		}
		assert.Equal(t, cfg.Parallel, again.Parallel)
		assert.Equal(t, cfg.Schedule, again.Schedule)
		loaded++
	}
	assert.Greater(t, loaded, 20)
	assert.True(t, seen[Layout{Nodes: 8, TP: 4, PP: 2, DP: 8, CP: 1, EP: 1, Kind: "1f1b", VirtualStages: 1, Microbatches: 16, MicrobatchSize: 1, Recompute: "full", ZeRO: 1, SequenceParallel: true}],
		"the scenario's own layout is among them")
}

// A fixed key has its value in every layout, and no layout of the free space
// that has it is lost. It may allow more: ZeRO-3 in a pipeline, for one.
func TestFixedKeys(t *testing.T) {
	free := planSpace(t, "70b-tp4-pp2").Layouts()
	for i, key := range PlanKeys() {
		want := map[string]int{}
		for _, l := range free {
			want[l.Values()[i]]++
		}
		for value, n := range want {
			s := planSpace(t, "70b-tp4-pp2")
			ok, err := s.Fix(key, value)
			require.NoError(t, err)
			require.True(t, ok)
			if key == "schedule.kind" { // without a pipeline all kinds are alike and count as one
				continue
			}
			got := map[Layout]bool{}
			for _, l := range s.Layouts() {
				require.Equal(t, value, l.Values()[i])
				got[l] = true
			}
			kept := 0
			for _, l := range free {
				if got[l] {
					kept++
				}
			}
			assert.Equal(t, n, kept, "%s=%s", key, value)
		}
	}
}

func TestFixRefuses(t *testing.T) {
	s := planSpace(t, "70b-tp4-pp2")
	for key, value := range map[string]string{
		"parallel.tp": "four", "schedule.kind": "nonesuch", "training.recompute": "some", "parallel.sequence_parallel": "1",
	} {
		ok, err := s.Fix(key, value)
		assert.True(t, ok, key)
		assert.Error(t, err, key)
	}
	ok, err := s.Fix("training.optimizer", "sgd")
	assert.False(t, ok, "no layout sets it")
	assert.NoError(t, err)
	ok, err = s.Fix("schedule.chunks", "16")
	assert.True(t, ok)
	require.NoError(t, err)
	for _, l := range s.Layouts() {
		require.Equal(t, 16, l.Microbatches)
	}
	_, err = s.Fix("parallel.tp", "3")
	require.NoError(t, err)
	assert.Zero(t, len(s.Layouts()), "3 ranks cannot share 64 heads")
}
