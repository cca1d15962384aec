package step_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim/job"
	"trainsim/sim/step"
)

func run(t testing.TB, c *job.Config, o step.Options) *step.Result {
	t.Helper()
	res, err := step.Run(context.Background(), c, o)
	require.NoError(t, err)
	return res
}
