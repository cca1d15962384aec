package kinds

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// TestNeverBetterThanOptimum compares every schedule of one chunk a rank that
// keeps within the cap with the optimum that exhaustive search or integer
// programming found for it.
func TestNeverBetterThanOptimum(t *testing.T) {
	readTestdata(t, "oracle*.json", func(name string, file oracleFile) {
		for i := range file.Optimal {
			r := &file.Optimal[i]
			t.Run(fmt.Sprintf("%s/%d-p%dm%dcap%d", name, i, r.P, r.M, r.Cap), func(t *testing.T) {
				for _, kind := range []string{"gpipe", "1f1b", "eager-1f1b", "zb-h1", "zb-h2", "zb-h1-light", "zb-auto"} {
					checkOptimum(t, r, kind)
				}
			})
		}
	})
}

func checkOptimum(t *testing.T, r *optimalRecord, kind string) {
	t.Helper()
	o := schedule.Options{Ranks: r.P, Microbatches: r.M, MemoryCap: r.Cap, Costs: schedule.UnitCosts()}
	if c := r.C; c != nil {
		o.Costs = schedule.Costs{StageCost: schedule.StageCost{Forward: c[0], BackwardInput: c[1], BackwardWeight: c[2]}, Latency: c[3]}
	}
	p, err := Build(t.Context(), kind, o)
	require.NoError(t, err)
	got, err := p.Execute(context.Background(), o.Costs)
	require.NoError(t, err)
	for _, peak := range got.Peak {
		if peak > r.Cap {
			require.NotEqual(t, "zb-auto", kind, "the greedy keeps its cap")
			return
		}
	}
	span := got.SpanBubble() + got.Work
	if r.Makespan != nil {
		require.GreaterOrEqual(t, got.Makespan, *r.Makespan, kind)
	}
	if r.SpanBubble != nil {
		require.GreaterOrEqual(t, got.SpanBubble(), *r.SpanBubble, kind)
	}
	if r.MaxSpan != nil {
		require.GreaterOrEqual(t, span, *r.MaxSpan, kind)
	}
	if r.GreedyMaxSpan != nil && kind == "zb-auto" {
		require.Equal(t, *r.GreedyMaxSpan, span)
	}
}
