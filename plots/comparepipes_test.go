package plots

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestComparePipelinesNeedsARecording(t *testing.T) {
	_, err := ComparePipelines([]Case{{Name: "x"}, {Name: "y", Recording: &trace.Recording{}}}, Options{})
	assert.ErrorIs(t, err, errNoActions)
	_, err = ComparePipelines(make([]Case, maxCases+1), Options{})
	assert.ErrorContains(t, err, "more than the 40")
}
