package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// Unequal stages give complete, acyclic orders whatever the costs.
func TestZBAutoTakesAnyCosts(t *testing.T) {
	r := sim.NewRand(1, "schedule/zb-auto")
	for range 400 {
		p := 2 + r.IntN(15)
		m := 1 + r.IntN(2*p)
		o := Options{Ranks: p, Microbatches: m, MemoryCap: 1 + r.IntN(2*p), Costs: UnitCosts(), WeightShare: r.Float64()}
		o.Costs.Latency = r.Float64()
		for range p {
			o.Costs.PerStage = append(o.Costs.PerStage, StageCost{0.2 + r.Float64(), 0.2 + 2*r.Float64(), 0.2 + r.Float64()})
		}
		prog, err := Build("zb-auto", o)
		require.NoError(t, err)
		_, err = prog.Execute(o.Costs)
		require.NoError(t, err, "%+v", o)
	}
}
