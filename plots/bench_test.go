package plots

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/plots/chart"
	"trainsim/plots/timeline"
	"trainsim/sim"
	"trainsim/sim/trace"
)

// busyRun is a step with a million kernels on the compute streams and two
// hundred thousand memory samples.
func busyRun() (*trace.Recording, synthetic) {
	y := synthetic{pp: 4, m: 16, tp: 8, forward: 30 * sim.Millisecond, links: 16}
	r, _ := y.build()
	end := timeline.Makespan(r)
	const kernels = 250_000
	for s := range y.pp {
		lane := r.AddLane(trace.Lane{Rank: s * y.tp, Stage: s, Stream: trace.Compute})
		for i := range sim.Time(kernels) {
			at := end / kernels * i
			r.Add(trace.Span{Start: at, End: at + end/kernels/2, Lane: lane, Kind: trace.Kind(i % 4), Microbatch: -1})
		}
	}
	for i := range sim.Time(200_000) {
		r.Set(end/200_000*i, 3, int64(i)<<16)
	}
	return r, y
}

func BenchmarkFigures(b *testing.B) {
	r, y := busyRun()
	rep := y.report(timeline.Makespan(r))
	for _, f := range Registry(OfRun) {
		b.Run("figure="+f.Name, func(b *testing.B) {
			for b.Loop() {
				fig, err := f.Draw(&Data{Run: runOf(r, rep)}, chart.Options{})
				require.NoError(b, err)
				require.NoError(b, fig.Encode(io.Discard, "png"))
			}
		})
	}
	b.Run("figure=all", func(b *testing.B) {
		for b.Loop() {
			_, err := WriteRun(b.TempDir(), runOf(r, rep), chart.Options{})
			require.NoError(b, err)
		}
	})
}
