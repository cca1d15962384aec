package gantt

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/trace"
)

// Of few stages every stream that has work has a row with its name, whatever
// dimensions there are.
func TestEveryStreamIsNamed(t *testing.T) {
	r := &trace.Recording{}
	want := []string{"stage 0 (rank 0)", "kernels"}
	for s := range trace.NumStreams {
		lane := r.AddLane(trace.Lane{Stream: s})
		r.Add(trace.Span{End: sim.Millisecond, Lane: lane, Kind: trace.Forward})
	}
	for d := range trace.NumDimensions {
		want = append(want, d.String()+" stream")
	}
	g, err := Pipeline(r)
	require.NoError(t, err)
	var labels []string
	for _, row := range g.Rows {
		labels = append(labels, row.Label)
	}
	assert.Equal(t, want, labels)
}
