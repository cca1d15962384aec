package kinds

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// TestEveryKindBuildsValidPrograms builds every schedule for small counts: the
// result passes Check and runs, or the error is about a count.
func TestEveryKindBuildsValidPrograms(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			for p := 1; p <= 7; p++ {
				for m := 1; m <= 17; m++ {
					for v := 1; v <= 4; v++ {
						if k.FixedChunks && v != k.Chunks || k.Name == "v-adaptive" && p*m > 24 {
							continue
						}
						checkBuild(t, k, schedule.Options{Ranks: p, Microbatches: m, VirtualStages: v})
					}
				}
			}
		})
	}
}

func checkBuild(t *testing.T, k schedule.Kind, o schedule.Options) {
	t.Helper()
	p, err := Build(t.Context(), k.Name, o)
	outline, refused := k.Outline(o)
	require.Equal(t, err, refused, "%+v", o)
	if err != nil {
		var count *schedule.CountError
		require.True(t, errors.As(err, &count), "%+v: %v", o, err)
		require.NotEmpty(t, count.Nearest, "%+v: %v", o, err)
		return
	}
	r, err := p.Execute(context.Background(), schedule.UnitCosts())
	require.NoError(t, err, "%+v", o)
	require.Equal(t, k.Name, p.Kind)
	require.Equal(t, [4]int{p.Ranks, p.Chunks, p.Stages(), p.Pipes()}, [4]int{outline.Ranks, outline.Chunks, outline.Stages(), outline.Pipes()})
	require.GreaterOrEqual(t, r.Bubble(), 0.0, "%+v", o)
	checkConservation(t, p, r, o)
}

// checkConservation: all ranks do the same work, busy and idle time add up to
// the makespan, and every send has a receive.
func checkConservation(t *testing.T, p *schedule.Program, r *schedule.Result, o schedule.Options) {
	t.Helper()
	work := 3 * float64(o.Microbatches*max(1, p.Batches)*p.Chunks)
	if p.Placement == schedule.Bidirectional {
		work /= 2
	}
	forward, backward := 0, 0
	for rank := range p.Lists {
		require.Equal(t, r.Makespan, r.Idle[rank]+work, "%s %+v", p.Kind, o)
		require.LessOrEqual(t, r.Span[rank], r.Makespan)
		require.LessOrEqual(t, r.PeakInput[rank], r.Peak[rank])
		forward += r.Messages[rank][0]
		backward += r.Messages[rank][1]
	}
	require.Equal(t, forward, backward, "%s %+v", p.Kind, o)
}

// TestNearestCountsAreAccepted: what an error suggests can be built.
func TestNearestCountsAreAccepted(t *testing.T) {
	cases := []struct {
		kind string
		o    schedule.Options
	}{
		{"dualpipe", schedule.Options{Ranks: 3, Microbatches: 12}},
		{"dualpipe", schedule.Options{Ranks: 4, Microbatches: 9}},
		{"chimera", schedule.Options{Ranks: 4, Microbatches: 6}},
		{"interleaved", schedule.Options{Ranks: 4, Microbatches: 11, VirtualStages: 2}},
		{"interleaved", schedule.Options{Ranks: 4, Microbatches: 11, VirtualStages: 2, GroupSize: 8}},
		{"interleaved", schedule.Options{Ranks: 4, Microbatches: 9, VirtualStages: 2, System: schedule.Megatron}},
		{"interleaved", schedule.Options{Ranks: 4, Microbatches: 10, VirtualStages: 2, System: schedule.Torch, GroupSize: 4}},
		{"interleaved-zb", schedule.Options{Ranks: 4, Microbatches: 11, VirtualStages: 2}},
		{"1f1b", schedule.Options{Ranks: 4, Microbatches: 3, System: schedule.Torch}},
		{"1f1b", schedule.Options{Ranks: 4, Microbatches: 0}},
		{"1f1b", schedule.Options{Ranks: 0, Microbatches: 4}},
		{"1f1b", schedule.Options{Ranks: 4, Microbatches: 4, VirtualStages: 2}},
		{"zb-v-auto", schedule.Options{Ranks: 4, Microbatches: 8, MemoryCap: 4}},
		{"hanayo", schedule.Options{Ranks: 4, Microbatches: 8, VirtualStages: 3}},
		{"grouped-interleaved", schedule.Options{Ranks: 4, Microbatches: 8, GroupSize: 1}},
		{"pipedream-2bw", schedule.Options{Ranks: 4, Microbatches: 3}},
		{"dualpipev", schedule.Options{Ranks: 4, Microbatches: 7}},
		{"v-adaptive", schedule.Options{Ranks: 1, Microbatches: 7}},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s/%+v", c.kind, c.o), func(t *testing.T) {
			_, err := Build(t.Context(), c.kind, c.o)
			var e *schedule.CountError
			require.True(t, errors.As(err, &e), "%v", err)
			require.NotEmpty(t, e.Nearest)
			for _, n := range e.Nearest {
				o := c.o
				switch e.Count {
				case "ranks":
					o.Ranks = n
				case "microbatches":
					o.Microbatches = n
				case "virtual stages":
					o.VirtualStages = n
				case "group size":
					o.GroupSize = n
				case "memory cap":
					o.MemoryCap = n
				}
				_, err := Build(t.Context(), c.kind, o)
				require.NoError(t, err, "%d", n)
			}
		})
	}
}

// TestCostDrivenOrdersTakeAnyCosts: also free actions and long latencies lead
// to valid programs, and the greedy keeps its cap.
func TestCostDrivenOrdersTakeAnyCosts(t *testing.T) {
	for _, c := range []schedule.Costs{
		{Latency: 1},
		{StageCost: schedule.StageCost{Forward: 1}},
		{StageCost: schedule.StageCost{BackwardInput: 1}},
		{StageCost: schedule.StageCost{BackwardWeight: 1}, Latency: 0.5},
		{StageCost: cost(0.1, 0.2, 0.3), Latency: 100},
		{PerStage: []schedule.StageCost{cost(1, 2, 3), cost(3, 2, 1), cost(0, 0, 0), cost(9, 9, 9), cost(1, 1, 1), cost(2, 2, 2), cost(5, 1, 1), cost(1, 1, 5)}},
	} {
		for _, kind := range []string{"zb-auto", "zb-v-auto", "v-adaptive", "grouped-interleaved"} {
			o := schedule.Options{Ranks: 4, Microbatches: 9, Costs: c}
			if kind == "zb-auto" && c.PerStage != nil {
				o.Costs.PerStage = c.PerStage[:4]
			}
			p, err := Build(t.Context(), kind, o)
			require.NoError(t, err, "%s %+v", kind, c)
			r, err := p.Execute(context.Background(), o.Costs)
			require.NoError(t, err, "%s %+v", kind, c)
			if kind != "grouped-interleaved" {
				require.LessOrEqual(t, maxOf(r.Peak), 2*o.Ranks, "%s %+v", kind, c)
			}
		}
	}
}

// TestGreedyKeepsItsCap whatever share of an activation W needs.
func TestGreedyKeepsItsCap(t *testing.T) {
	for limit := 1; limit <= 9; limit++ {
		for _, share := range []float64{0.25, 0.5, 1} {
			p, r := execute(t, "zb-auto", schedule.Options{Ranks: 4, Microbatches: 10, MemoryCap: limit, WeightShare: share}, schedule.UnitCosts())
			for rank, list := range p.Lists {
				require.LessOrEqual(t, heldMemory(list, share), float64(limit), "cap %d share %g rank %d", limit, share, rank)
			}
			if share == 1 {
				require.LessOrEqual(t, maxOf(r.Peak), limit)
			}
		}
	}
}

// heldMemory returns the most activations of a list, those between I and W
// counted by their share.
func heldMemory(list []schedule.Action, share float64) float64 {
	held, most := 0.0, 0.0
	for _, a := range list {
		switch a.Op {
		case schedule.Forward:
			held++
		case schedule.BackwardInput:
			held -= 1 - share
		case schedule.BackwardWeight:
			held -= share
		}
		most = max(most, held)
	}
	return most
}

func FuzzBuild(f *testing.F) {
	for i := range All() {
		f.Add(i, 4, 8, 2, 0, 0)
		f.Add(i, 3, 7, 3, 4, 5)
	}
	f.Fuzz(func(t *testing.T, kind, p, m, v, group, limit int) {
		kinds := All()
		k := kinds[((kind%len(kinds))+len(kinds))%len(kinds)]
		if p > 12 || m > 40 || v > 6 || k.Name == "v-adaptive" && (p > 4 || m > 12) {
			return
		}
		program, err := Build(t.Context(), k.Name, schedule.Options{Ranks: p, Microbatches: m, VirtualStages: v, GroupSize: group, MemoryCap: limit})
		if err != nil {
			return
		}
		_, err = program.Execute(context.Background(), schedule.UnitCosts())
		require.NoError(t, err, "%s p%d m%d v%d", k.Name, p, m, v)
	})
}
