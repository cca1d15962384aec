package trace

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBlocksAreSaved(t *testing.T) {
	r := &Recording{Blocks: &Blocks{Rank: 3, Stage: 1, Failed: true, Segments: [][]Block{{{512, "weights"}, {1024, ""}}, {{2048, "weights"}}}}}
	var b bytes.Buffer
	require.NoError(t, r.encodeJSON(&b))
	assert.Contains(t, b.String(), `"segments":[[512,0,1024,1],[2048,0]]`)
	again, err := decode(&b)
	require.NoError(t, err)
	assert.Equal(t, r.Blocks, again.Blocks)
	for _, bad := range []string{`[[512,7]]`, `[[-1,0]]`, `[[1,-1]]`, `[[1125899906842624,0,1,0]]`} {
		_, err := decode(strings.NewReader(`{"kinds":[],"blocks":{"kinds":["weights"],"segments":` + bad + `}}`))
		assert.Error(t, err, bad)
	}
}
