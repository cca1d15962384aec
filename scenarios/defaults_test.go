package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios/keys"
)

func TestDefaultsAreValid(t *testing.T) {
	root := defaults()
	for _, k := range keys.Scenario() {
		if k.Default == "" {
			continue
		}
		n := root.find(k.Path)
		require.NotNil(t, n, k.Path)
		if len(k.Values) > 0 {
			assert.Contains(t, k.Values, n.text, k.Path)
		}
		assert.False(t, n.at.Known(), "defaults stand nowhere")
	}
}
