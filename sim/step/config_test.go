package step_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim/job"
	"trainsim/sim/step"
)

// cases is how many of n random jobs a test runs: a sixth under -short, as with
// the race detector.
func cases(n uint64) uint64 {
	if testing.Short() {
		return n / 6
	}
	return n
}

func run(t testing.TB, c *job.Config, o step.Options) *step.Result {
	t.Helper()
	res, err := step.Run(context.Background(), c, o)
	require.NoError(t, err)
	return res
}
