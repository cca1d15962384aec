package kinds

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
	"trainsim/sim"
)

// Unequal stages give complete, acyclic orders whatever the costs.
func TestZBAutoTakesAnyCosts(t *testing.T) {
	r := sim.NewRand(1, "schedule/zb-auto")
	for range 400 {
		p := 2 + r.IntN(15)
		m := 1 + r.IntN(2*p)
		o := schedule.Options{Ranks: p, Microbatches: m, MemoryCap: 1 + r.IntN(2*p), Costs: schedule.UnitCosts(), WeightShare: r.Float64()}
		o.Costs.Latency = r.Float64()
		for range p {
			o.Costs.PerStage = append(o.Costs.PerStage, cost(0.2+r.Float64(), 0.2+2*r.Float64(), 0.2+r.Float64()))
		}
		prog, err := Build(t.Context(), "zb-auto", o)
		require.NoError(t, err)
		_, err = prog.Execute(context.Background(), o.Costs)
		require.NoError(t, err, "%+v", o)
	}
}
