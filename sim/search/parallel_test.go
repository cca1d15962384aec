package search

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParallelCallsStopAtTheFirstFailure(t *testing.T) {
	err := InParallel(context.Background(), 4, 100, func(i int) error {
		if i == 3 {
			panic("broken")
		}
		return nil
	})
	assert.ErrorContains(t, err, "internal error: broken")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, InParallel(ctx, 0, 10, func(int) error { return nil }), context.Canceled)
	done := make([]bool, 50)
	require.NoError(t, InParallel(context.Background(), 3, 50, func(i int) error { done[i] = true; return nil }))
	assert.NotContains(t, done, false)
}
