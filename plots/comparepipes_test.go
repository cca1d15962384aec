package plots

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"

	"trainsim/plots/chart"
	"trainsim/plots/gantt"
	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// Charts under each other keep their own ends on one axis, and of a long
// pipeline the first and the last stage are there.
func TestPipelinesShareAnAxis(t *testing.T) {
	long := &gantt.Chart{End: 4, Chunks: 1}
	for range 64 {
		long.Rows = append(long.Rows, gantt.Row{Label: "s", Boxes: []gantt.Box{{End: 4, Kind: trace.Forward}}}, gantt.Row{Thin: true})
	}
	short := &gantt.Chart{End: 1, Chunks: 2, Rows: []gantt.Row{{Label: "s", Boxes: []gantt.Box{{End: 1, Kind: trace.Forward}}}}}
	all := &gantt.Chart{Chunks: 1}
	join(all, long, report.Case{Name: "long"}, 12)
	join(all, short, report.Case{Name: "short", Run: report.Run{Report: &report.Report{StepTime: 1}}}, 12)
	require.Len(t, all.Rows, 1+12+1+1)
	assert.Equal(t, "long", all.Rows[0].Heading)
	assert.Equal(t, "stage 0", all.Rows[1].Label)
	assert.Equal(t, "stage 63", all.Rows[12].Label)
	assert.Contains(t, all.Rows[13].Heading, "step time 1.00 s")
	assert.Equal(t, 4.0, all.End)
	assert.Equal(t, 1.0, all.Rows[14].End)
	assert.Equal(t, 2, all.Chunks)
}

// Each pipeline has its own end of the step, where its rows end.
func TestEveryPipelineHasItsEnd(t *testing.T) {
	long, rep := synthetic{pp: 2, m: 4, tp: 1, forward: 200 * sim.Microsecond}.build()
	short, repShort := synthetic{pp: 2, m: 4, tp: 1, forward: 100 * sim.Microsecond}.build()
	f, err := comparePipelines([]report.Case{{Name: "long", Run: *runOf(long, rep)}, {Name: "short", Run: *runOf(short, repShort)}}, chart.Options{})
	require.NoError(t, err)
	var ends []vg.Length
	for _, a := range record(f) {
		s, ok := a.(*recorder.Stroke)
		if ok && len(s.Path) == 2 && s.Path[0].Pos.X == s.Path[1].Pos.X && s.Path[0].Pos.X > f.Width/10 && s.Path[1].Pos.Y-s.Path[0].Pos.Y > f.Height/5 {
			ends = append(ends, s.Path[0].Pos.X)
		}
	}
	require.Len(t, ends, 2)
	assert.Greater(t, ends[0], ends[1]*1.5)
}

func TestComparePipelinesNeedsARecording(t *testing.T) {
	_, err := comparePipelines([]report.Case{{Name: "x"}, {Name: "y", Run: *runOf(&trace.Recording{}, nil)}}, chart.Options{})
	assert.ErrorIs(t, err, gantt.ErrNoActions)
	_, err = comparePipelines(make([]report.Case, maxCases+1), chart.Options{})
	assert.ErrorContains(t, err, "more than the 40")
}
