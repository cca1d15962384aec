package trace

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Names are in traces, saved runs and reports: they stay, in their order.
func TestNamesFollowTheDimensions(t *testing.T) {
	assert.Equal(t, [NumKinds]string{
		"forward", "backward", "backward_input", "backward_weight", "recompute", "optimizer",
		"tp_comm", "pp_comm", "dp_comm", "cp_comm", "ep_comm", "host_wait", "bubble", "evaluation",
	}, kindNames)
	assert.Equal(t, [NumStreams]string{"actions", "compute", "tp", "pp", "dp", "cp", "ep"}, streamNames)
	assert.Equal(t, "unknown", NumDimensions.String())
}

// Every dimension has a row of the table, and no two share a name or a colour.
func TestDimensionsDiffer(t *testing.T) {
	seen := map[any]bool{}
	for d := range NumDimensions {
		for _, x := range []any{d.String(), d.Name(), d.Color(), d.Kind(), d.Stream()} {
			assert.NotEqual(t, "", x)
			assert.False(t, seen[x], "%v of %v", x, d)
			seen[x] = true
		}
	}
}
