package measured

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/step"
)

// Published runs of models with experts, twelve with every setting printed:
// memory and time. Times fall short by about a tenth: the grouped products and
// the host's part in routing are known from one machine only.
func TestRunsOfMixtures(t *testing.T) {
	text, err := os.ReadFile("testdata/experts_runs.csv")
	require.NoError(t, err)
	runs, err := readRuns(text, "experts_runs.csv")
	require.NoError(t, err)
	require.Len(t, runs, 12)
	var seconds, memory errorsOf
	for i := range runs {
		r := &runs[i]
		require.Empty(t, r.Skipped)
		res, err := step.Run(context.Background(), r.Config, step.Options{Fold: true, NoRecording: true})
		require.NoError(t, err)
		seconds.add(int64(res.StepTime), int64(sim.FromSeconds(r.Seconds)))
		var most int64
		for _, m := range res.Memory {
			most = max(most, m.PeakAllocated)
		}
		memory.add(most, r.MemoryBytes)
	}
	t.Logf("time mean %.1f %% worst %.1f %%, memory mean %.2f %% worst %.2f %%", 100*seconds.mean(), 100*seconds.worst,
		100*memory.mean(), 100*memory.worst)
	assert.Less(t, seconds.mean(), 0.12)
	assert.Less(t, memory.mean(), 0.01)
	assert.Less(t, memory.worst, 0.01)
}
