package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestList(t *testing.T) {
	kinds := ListKinds()
	assert.Equal(t, []string{"clusters", "frameworks", "gpus", "models", "scenarios"}, kinds)
	for _, kind := range kinds {
		entries, err := List(kind)
		require.NoError(t, err)
		require.NotEmpty(t, entries)
		for _, e := range entries {
			assert.NotEmpty(t, e.Description, e.Name)
			text, err := Source(kind, e.Name)
			require.NoError(t, err)
			assert.Contains(t, string(text), e.Description)
		}
	}
	_, err := List("model")
	assert.ErrorContains(t, err, `did you mean "models"?`)
	_, err = Source("models", "llama-2-7")
	assert.ErrorContains(t, err, `did you mean "llama-2-7b"?`)
	_, err = Source("gpu", "x")
	assert.ErrorContains(t, err, `did you mean "gpus"?`)
}
