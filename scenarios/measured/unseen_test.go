package measured

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/step"
)

// unseen are published runs of software and machines on which nothing was
// fitted, with how far their steps are predicted off, on average: what a run
// of one's own may expect. torchtitan's had to teach how PyTorch cuts a sequence for
// its ring. Many narrow experts in FP8 are predicted far too fast.
var unseen = map[string]float64{
	"megascale":              0.05, // A100, GPT-3 175B on 256 to 12,288 GPUs
	"bigscience":             0.05, // V100, Omni-Path, up to 256 GPUs
	"torchtitan":             0.1,  // H100 at 500 W, FSDP with TP, PP and CP, up to 512 GPUs
	"megatronbridge-dense":   0.10, // H100, B200, GB200, GB300 in FP8, up to 1,024 GPUs
	"megatronbridge-experts": 0.25,
}

func TestUnseenRuns(t *testing.T) {
	text, err := os.ReadFile("testdata/unseen_runs.csv")
	require.NoError(t, err)
	runs, err := readRuns(text, "unseen_runs.csv")
	require.NoError(t, err)
	errors := map[string]*errorsOf{}
	for i := range runs {
		r := &runs[i]
		require.Empty(t, r.Skipped)
		j, err := job.Build(r.Config, account.Peaks)
		require.NoError(t, err)
		res, err := step.Timed(context.Background(), j, step.Options{Fold: true, NoRecording: true})
		require.NoError(t, err)
		if errors[r.Family] == nil {
			errors[r.Family] = &errorsOf{}
		}
		errors[r.Family].add(int64(res.StepTime), int64(r.Seconds*1e12))
	}
	for family, limit := range unseen {
		e := errors[family]
		require.NotNil(t, e, family)
		t.Logf("%-24s n %2.0f mean %.1f %% worst %.1f %%", family, e.n, 100*e.mean(), 100*e.worst)
		assert.Less(t, e.mean(), limit, family)
	}
}
