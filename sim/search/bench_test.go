package search

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim/bound"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// BenchmarkSweepPoint is one point of a sweep from its settings to its row:
// load, identity, build, account, simulation.
func BenchmarkSweepPoint(b *testing.B) {
	axis, err := ParseAxis("schedule.microbatches=16")
	require.NoError(b, err)
	g, err := NewGrid([]report.Axis{axis}, nil)
	require.NoError(b, err)
	g.Template, err = scenarios.Open("70b-tp4-pp2")
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		p := g.Point(0)
		require.NoError(b, p.simulate(context.Background(), step.Options{NoRecording: true, Fold: true}))
		require.Equal(b, report.OutcomeOK, p.Row.Outcome)
	}
}

// BenchmarkBounder bounds every layout of 70B on 64 GPUs.
func BenchmarkBounder(b *testing.B) {
	base, err := scenarios.Load("70b-tp4-pp2")
	require.NoError(b, err)
	layouts := NewSpace(base).Layouts()
	for b.Loop() {
		bounder := bound.NewBounder(base)
		for i := range layouts {
			_, err := bounder.Bound(layouts[i].Apply(base))
			require.NoError(b, err)
		}
	}
	b.ReportMetric(float64(len(layouts)), "layouts/op")
}
