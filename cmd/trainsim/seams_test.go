package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/scenarios/importers"
	"trainsim/schedule"
	"trainsim/sim/account"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/step"
)

// What is data is added by a file beside the scenario, without Go: a GPU, a
// machine, a model, a framework. (A layer of another kind is added in package
// step's tests, a GPU generation by a file in its package's folder.)
func TestSeamsOfData(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"gpus/half-h100.toml":     "preset = \"h100-sxm5-80gb\"\nsms = 66\npower_limit = \"350W\"\n",
		"clusters/lab.toml":       "preset = \"dgx-h100\"\ngpu = \"half-h100\"\n",
		"models/tiny.toml":        "preset = \"generic-1b\"\nlayers = 4\n",
		"frameworks/inhouse.toml": "preset = \"eager\"\nhost.forward = \"900us\"\n",
		"job.toml": "model.preset = \"tiny\"\ncluster.preset = \"lab\"\nframework.preset = \"inhouse\"\n" +
			"schedule.microbatches = 2\n",
	} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	seconds := func(sets ...string) float64 {
		cfg, err := scenarios.LoadWith(filepath.Join(dir, "job.toml"), sets)
		require.NoError(t, err)
		j, err := job.Build(context.Background(), cfg, account.Peaks)
		require.NoError(t, err)
		res, err := step.Timed(context.Background(), j, step.Options{Fold: true, NoRecording: true})
		require.NoError(t, err)
		return res.StepTime.Seconds()
	}
	own := seconds()
	assert.Greater(t, own, seconds("cluster.preset=dgx-h100"), "half of a GPU is slower")
	assert.Greater(t, own, seconds("framework.preset=eager"), "a slow host is slower")
}

// A schedule is a value: its name, what it takes, and what fills its lists.
func TestSeamOfSchedules(t *testing.T) {
	oneByOne := schedule.Kind{
		Name: "one-by-one", Summary: "every micro-batch alone", Constraint: "any p, m", FixedChunks: true, Chunks: 1,
		Fill: func(req *schedule.Request, p *schedule.Program) error {
			for r := range p.Lists {
				for mb := range req.Microbatches {
					p.Lists[r] = append(p.Lists[r], schedule.Forward.At(mb, 0), schedule.Backward.At(mb, 0))
				}
			}
			return nil
		},
	}
	p, err := oneByOne.Build(context.Background(), schedule.Options{Ranks: 2, Microbatches: 3, Costs: schedule.UnitCosts()})
	require.NoError(t, err)
	assert.Len(t, p.Lists[1], 6)
}

// An importer is a value, too: how a file is recognised, and what it says.
func TestSeamOfImporters(t *testing.T) {
	flags := importers.Importer{
		Name: "flags", Key: "model.flags", What: "a line of flags",
		Recognises: func(text []byte) bool { return strings.HasPrefix(string(text), "--") },
		Read: func(src *input.Source, _ *input.Problems) []importers.Setting {
			_, n, _ := strings.Cut(string(src.Text), "--seq-length ")
			return []importers.Setting{{Key: "model.seq_len", Value: n}}
		},
	}
	said, err := flags.Parse("run.sh", []byte("--seq-length 4096"))
	require.NoError(t, err)
	assert.Equal(t, []importers.Setting{{Key: "model.seq_len", Value: "4096"}}, said)
}
