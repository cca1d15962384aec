package kinds

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// extraLatency returns how much longer a program takes with latency c.
func extraLatency(t *testing.T, kind string, o schedule.Options, cost schedule.StageCost, c float64) float64 {
	t.Helper()
	p, without := execute(t, kind, o, schedule.Costs{StageCost: cost})
	with, err := p.Execute(context.Background(), schedule.Costs{StageCost: cost, Latency: c})
	require.NoError(t, err)
	return with.Makespan - without.Makespan
}

// TestLatencyOnTheCriticalPath: closed forms of what a latency of each message
// adds to the makespan.
func TestLatencyOnTheCriticalPath(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 80 {
		p := 2 + rng.IntN(6)
		m := p * (2 + rng.IntN(3))
		hops := float64(p - 1)
		cost := schedule.StageCost{Forward: float64(10 + rng.IntN(20)), BackwardInput: float64(10 + rng.IntN(20)), BackwardWeight: float64(10 + rng.IntN(20))}
		o := schedule.Options{Ranks: p, Microbatches: m}
		require.Equal(t, 2*hops*3, extraLatency(t, "gpipe", o, cost, 3))
		require.Equal(t, 2*hops*3, extraLatency(t, "eager-1f1b", o, cost, 3))
		k := m + p - 2
		require.Equal(t, float64(2*3*(k-k/p)), extraLatency(t, "1f1b", o, cost, 3), "p%d m%d", p, m)
		o.VirtualStages = 2
		require.Equal(t, float64(2*(2*p-1)), extraLatency(t, "interleaved", o, cost, 1), "p%d m%d", p, m)
		require.Equal(t, 2*hops, extraLatency(t, "looped-bfs", o, cost, 1), "p%d m%d", p, m)
		o.GroupSize = m
		require.Equal(t, 2*hops, extraLatency(t, "interleaved", o, cost, 1), "a larger group hides the latency between chunks")
	}
}

// TestLatencyOfZeroBubble: small latencies in ZB-H1 and ZB-V.
func TestLatencyOfZeroBubble(t *testing.T) {
	cost := schedule.StageCost{Forward: 1000, BackwardInput: 1200, BackwardWeight: 800}
	for p := 2; p <= 6; p++ {
		require.Equal(t, float64(4*(p-1)), extraLatency(t, "zb-h1", schedule.Options{Ranks: p, Microbatches: 2 * p}, cost, 1), "p%d", p)
	}
	equal := schedule.StageCost{Forward: 1000, BackwardInput: 1000, BackwardWeight: 1000}
	for _, p := range []int{2, 3, 4, 8} {
		require.Equal(t, float64(5*p-7), extraLatency(t, "zb-v", schedule.Options{Ranks: p, Microbatches: 2 * p}, equal, 1), "p%d", p)
	}
}

// TestScalingAndMonotony: times scale with the costs, and no larger cost makes
// a fixed order faster.
func TestScalingAndMonotony(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, k := range All() {
		o := schedule.Options{Ranks: 4, Microbatches: 8}
		p, err := Build(t.Context(), k.Name, o)
		require.NoError(t, err)
		costs := schedule.Costs{StageCost: randomCosts(rng), Latency: 2}
		base, err := p.Execute(context.Background(), costs)
		require.NoError(t, err)

		eight := schedule.Costs{StageCost: cost(8*costs.Forward, 8*costs.BackwardInput, 8*costs.BackwardWeight), Latency: 16}
		scaled, err := p.Execute(context.Background(), eight)
		require.NoError(t, err)
		require.Equal(t, 8*base.Makespan, scaled.Makespan, k.Name)
		require.Equal(t, base.BubbleOverTotal(), scaled.BubbleOverTotal(), k.Name)

		for _, more := range []schedule.Costs{
			{StageCost: cost(costs.Forward+1, costs.BackwardInput, costs.BackwardWeight), Latency: 2},
			{StageCost: cost(costs.Forward, costs.BackwardInput+1, costs.BackwardWeight), Latency: 2},
			{StageCost: cost(costs.Forward, costs.BackwardInput, costs.BackwardWeight+1), Latency: 2},
			{StageCost: costs.StageCost, Latency: 3},
		} {
			r, err := p.Execute(context.Background(), more)
			require.NoError(t, err)
			require.GreaterOrEqual(t, r.Makespan, base.Makespan, k.Name)
		}
	}
}

// TestQuotedFifteenPercent: four stages and eight micro-batches lose 15.8 % of
// the step with two chunks a rank, 27.3 % with one.
func TestQuotedFifteenPercent(t *testing.T) {
	want := map[string]float64{"gpipe": 3. / 11, "1f1b": 3. / 11, "eager-1f1b": 3. / 11, "interleaved": 3. / 19,
		"looped-bfs": 3. / 19, "zb-h1": 1. / 9, "zb-h2": 1. / 9, "zb-v": 1. / 17, "interleaved-zb": 1. / 17}
	for _, k := range All() {
		rate, ok := want[k.Name]
		if !ok {
			continue
		}
		_, r := execute(t, k.Name, schedule.Options{Ranks: 4, Microbatches: 8}, schedule.UnitCosts())
		require.InDelta(t, rate, r.BubbleOverTotal(), 1e-12, k.Name)
	}
	_, r := execute(t, "1f1b", schedule.Options{Ranks: 4, Microbatches: 8}, schedule.UnitCosts())
	require.Equal(t, 0.375, r.BubbleOverIdeal())
}
