package main

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
	template, err := scenarios.Open("70b-tp4-pp2")
	require.NoError(b, err)
	axis, err := scenarios.ParseAxis("schedule.microbatches=16")
	require.NoError(b, err)
	sweep := &scenarios.Sweep{Template: template, Axes: []scenarios.Axis{axis}}
	require.NoError(b, sweep.Prepare())
	s := &sweepCommand{app: &app{}}
	b.ReportAllocs()
	for b.Loop() {
		p := s.load(sweep, 0)
		require.NoError(b, simulatePoint(context.Background(), p, step.Options{NoRecording: true, Fold: true}))
		require.Equal(b, report.OutcomeOK, p.row.Outcome)
	}
}

// BenchmarkBounder bounds every layout of 70B on 64 GPUs.
func BenchmarkBounder(b *testing.B) {
	base, err := scenarios.Load("70b-tp4-pp2")
	require.NoError(b, err)
	space := &scenarios.Space{Base: base, Nodes: []int{8}, Batch: 128, Kinds: []string{"1f1b", "interleaved"}, MinMicrobatches: 1}
	layouts := space.Layouts()
	for b.Loop() {
		bounder, err := bound.NewBounder(base)
		require.NoError(b, err)
		for i := range layouts {
			_, err := bounder.Bound(layouts[i].Apply(base))
			require.NoError(b, err)
		}
	}
	b.ReportMetric(float64(len(layouts)), "layouts/op")
}
