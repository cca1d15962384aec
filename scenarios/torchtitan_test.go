package scenarios

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/step"
)

// torchtitan's published runs, FSDP with tensor, pipeline and context
// parallelism on 8 to 512 GPUs, of which nothing was fitted. Context parallelism
// of four and eight ranks is predicted far too fast; the rest is within
// 14 %, but for attention over 32,768 tokens at 500 W.
func TestRunsOfTorchtitan(t *testing.T) {
	file, err := os.Open("testdata/torchtitan_runs.csv")
	require.NoError(t, err)
	defer file.Close()
	runs, err := ReadRuns(file, "torchtitan_runs.csv")
	require.NoError(t, err)
	require.Len(t, runs, 16)
	var short, long errorsOf
	for i := range runs {
		r := &runs[i]
		require.Empty(t, r.Skipped)
		res, err := step.Run(context.Background(), r.Config, step.Options{Fold: true})
		require.NoError(t, err)
		assert.Nil(t, res.OOM, r.ID)
		e := &short
		if r.Config.Parallel.CP > 1 {
			e = &long
		}
		e.add(int64(res.StepTime), int64(r.Seconds*1e12))
	}
	t.Logf("mean %.1f %% worst %.1f %%; with context parallelism %.1f %%, %.1f %%", 100*short.mean(), 100*short.worst, 100*long.mean(), 100*long.worst)
	assert.Less(t, short.mean(), 0.10)
	assert.Less(t, short.worst, 0.23)
	assert.Less(t, long.mean(), 0.35)
}
