package plots

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"

	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// Charts under each other keep their own ends on one axis, and of a long
// pipeline the first and the last stage are there.
func TestPipelinesShareAnAxis(t *testing.T) {
	long := &gantt{end: 4, chunks: 1}
	for range 64 {
		long.rows = append(long.rows, row{label: "s", boxes: []box{{0, 4, trace.Forward, 0, 0}}}, row{thin: true})
	}
	short := &gantt{end: 1, chunks: 2, rows: []row{{label: "s", boxes: []box{{0, 1, trace.Forward, 0, 0}}}}}
	all := &gantt{chunks: 1}
	all.join(long, Case{Name: "long"}, 12)
	all.join(short, Case{Name: "short", Report: &report.Report{StepTime: 1}}, 12)
	require.Len(t, all.rows, 1+12+1+1)
	assert.Equal(t, "long", all.rows[0].heading)
	assert.Equal(t, "stage 0", all.rows[1].label)
	assert.Equal(t, "stage 63", all.rows[12].label)
	assert.Contains(t, all.rows[13].heading, "step time 1.00 s")
	assert.Equal(t, 4.0, all.end)
	assert.Equal(t, 1.0, all.rows[14].end)
	assert.Equal(t, 2, all.chunks)
}

// Each pipeline has its own end of the step, where its rows end.
func TestEveryPipelineHasItsEnd(t *testing.T) {
	long, rep := synthetic{pp: 2, m: 4, tp: 1, forward: 200 * sim.Microsecond}.build()
	short, repShort := synthetic{pp: 2, m: 4, tp: 1, forward: 100 * sim.Microsecond}.build()
	f, err := ComparePipelines([]Case{{Name: "long", Report: rep, Recording: long}, {Name: "short", Report: repShort, Recording: short}}, Options{})
	require.NoError(t, err)
	var ends []vg.Length
	for _, a := range record(f) {
		s, ok := a.(*recorder.Stroke)
		if ok && len(s.Path) == 2 && s.Path[0].Pos.X == s.Path[1].Pos.X && s.Path[0].Pos.X > f.width/10 && s.Path[1].Pos.Y-s.Path[0].Pos.Y > f.height/5 {
			ends = append(ends, s.Path[0].Pos.X)
		}
	}
	require.Len(t, ends, 2)
	assert.Greater(t, ends[0], ends[1]*1.5)
}

func TestComparePipelinesNeedsARecording(t *testing.T) {
	_, err := ComparePipelines([]Case{{Name: "x"}, {Name: "y", Recording: &trace.Recording{}}}, Options{})
	assert.ErrorIs(t, err, errNoActions)
	_, err = ComparePipelines(make([]Case, maxCases+1), Options{})
	assert.ErrorContains(t, err, "more than the 40")
}
