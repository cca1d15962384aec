package kinds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// TestFind: names are unique, and spelling does not matter.
func TestFind(t *testing.T) {
	owner := map[string]string{}
	for _, k := range All() {
		require.NotEmpty(t, k.Summary)
		require.NotEmpty(t, k.Constraint)
		for _, name := range append([]string{k.Name}, k.Aliases...) {
			require.Empty(t, owner[normalise(name)], "%s names two schedules", name)
			owner[normalise(name)] = k.Name
			for _, spelt := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "-", "_")} {
				found, err := Find(spelt)
				require.NoError(t, err)
				require.Equal(t, k.Name, found.Name)
			}
		}
	}
	_, err := Find("nope")
	require.ErrorContains(t, err, `unknown schedule "nope"; write one of gpipe,`)
	_, err = Build(t.Context(), "nope", schedule.Options{})
	require.Error(t, err)
}

func TestCountErrorText(t *testing.T) {
	_, err := Build(t.Context(), "dualpipe", schedule.Options{Ranks: 4, Microbatches: 9})
	require.EqualError(t, err, "schedule dualpipe: microbatches = 9: even, and at least two for each rank; write 8 or 10")
	_, err = Build(t.Context(), "interleaved", schedule.Options{Ranks: 4, Microbatches: 11})
	require.EqualError(t, err, "schedule interleaved: microbatches = 11: a multiple of the 2 rounds, max(1, m/p), or a group size such as 6; write 10 or 12")
	_, err = Build(t.Context(), "interleaved", schedule.Options{Ranks: 4, Microbatches: 9, GroupSize: 4, System: schedule.Megatron})
	require.EqualError(t, err, "schedule interleaved: group size = 4: between the 4 ranks and the 9 micro-batches, with m mod N = 0 or >= 4 (Megatron); write 5")
	_, err = Build(t.Context(), "interleaved", schedule.Options{Ranks: 4, Microbatches: 11, System: schedule.Torch, GroupSize: 4})
	require.EqualError(t, err, "schedule interleaved: microbatches = 11: torch: a multiple of the 2 rounds, max(1, m/p); write 10 or 12")
	_, err = Build(t.Context(), "interleaved", schedule.Options{Ranks: 4, Microbatches: 3, System: schedule.Megatron, GroupSize: 3})
	require.EqualError(t, err, "schedule interleaved: microbatches = 3: a group size from the 4 ranks to m; write 4")
}

func TestOptionsAreBounded(t *testing.T) {
	base := schedule.Options{Ranks: 4, Microbatches: 8}
	for name, change := range map[string]func(o *schedule.Options){
		"microbatches = 1073741824: at most 349525 beside the other counts, as a schedule has up to 8388608 actions; write 349525": func(o *schedule.Options) { o.Microbatches = 1 << 30 },
		"ranks = 1073741824: at most 1398101 ": func(o *schedule.Options) { o.Ranks = 1 << 30 },
		"between 1 and 16384":                  func(o *schedule.Options) { o.VirtualStages = 1 << 20 },
		"are at least 0":                       func(o *schedule.Options) { o.GroupSize = -1 },
		"weight share 2":                       func(o *schedule.Options) { o.WeightShare = 2 },
		"a step has a micro-batch":             func(o *schedule.Options) { o.Microbatches = -3 },
	} {
		o := base
		change(&o)
		_, err := Build(t.Context(), "interleaved", o)
		require.ErrorContains(t, err, name)
	}
	o := base
	o.Costs = schedule.Costs{StageCost: schedule.StageCost{Forward: -1}}
	_, err := Build(t.Context(), "zb-auto", o)
	require.ErrorContains(t, err, "finite numbers of at least 0")
	o.Costs = schedule.Costs{StageCost: schedule.StageCost{Forward: 1}, PerStage: make([]schedule.StageCost, 3)}
	_, err = Build(t.Context(), "zb-auto", o)
	require.ErrorContains(t, err, "the program has 4 stages")
}
