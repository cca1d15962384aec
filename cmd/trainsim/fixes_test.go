package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim/report"
)

func fixesOf(t *testing.T, text string) []report.Fix {
	t.Helper()
	cfg, err := scenarios.LoadReader(strings.NewReader(text), "x.toml", nil)
	require.NoError(t, err)
	return report.Fixes(context.Background(), cfg)
}

// Advice names different things to change: not one micro-batch, then its half.
func TestFixesNameAKeyOnce(t *testing.T) {
	list := fixesOf(t, `
[model]
preset = "gpt2-124m"
[cluster]
gpu = "rtx4090-24gb"
gpus_per_node = 1
[schedule]
microbatch_size = 64
`)
	require.NotEmpty(t, list)
	seen := map[string]bool{}
	for _, f := range list {
		assert.LessOrEqual(t, f.Used, 1.0)
		for key := range f.Change {
			assert.False(t, seen[key], "%s twice", key)
			seen[key] = true
		}
	}
}

// A shard over fewer ranks than there are is undone first.
func TestFixesShardOverAllRanks(t *testing.T) {
	list := fixesOf(t, `
[model]
preset = "qwen2.5-72b"
seq_len = 8192
[cluster]
preset = "hgx-h200"
nodes = 4
[parallel]
zero = 3
fsdp_group = 8
[training]
recompute = "full"
`)
	require.NotEmpty(t, list)
	assert.Equal(t, map[string]any{"parallel.fsdp_group": 0}, list[0].Change)
}

// Smaller micro-batches are more of them: the search does not go on to a
// million where a few do, or where none do.
func TestFixesTryFewMicrobatches(t *testing.T) {
	for _, size := range []string{"1024", "1048576"} {
		list := fixesOf(t, `
[model]
preset = "gpt2-124m"
seq_len = 512
[cluster]
gpu = "rtx4090-24gb"
gpus_per_node = 1
[schedule]
microbatch_size = `+size)
		for _, f := range list {
			if b, ok := f.Change["schedule.microbatch_size"]; ok {
				assert.Equal(t, 32, b, size)
			}
		}
		assert.Equal(t, size == "1024", len(list) > 0, size)
	}
}

// What a fix says can be written: the scenario with it loads, on the same
// GPUs, and fits.
func TestFixesOfMixturesLoad(t *testing.T) {
	all := 0
	for _, sets := range [][]string{
		{"model.attention=unfused"},
		{"parallel.ep=1"},
		{"model.experts=24"},
		{"schedule.kind=1f1b", "schedule.virtual_stages=1", "model.experts_per_token=8"},
		{"schedule.kind=1f1b", "schedule.virtual_stages=1", "parallel.ep=1", "parallel.zero=3"},
		{"parallel.tp=2", "parallel.sequence_parallel=true", "parallel.dp=8", "schedule.microbatches=32", "parallel.ep=1"},
	} {
		cfg, err := scenarios.LoadWith("mixtral-8x7b-ep8", sets)
		require.NoError(t, err)
		for _, f := range report.Fixes(context.Background(), cfg) {
			with := append([]string{}, sets...)
			for key, value := range f.Change {
				text := fmt.Sprint(value)
				if s, ok := value.(string); ok {
					text = strconv.Quote(s)
				}
				with = append(with, key+"="+text)
				if key == "parallel.tp" || key == "parallel.pp" { // dp follows
					with = slices.DeleteFunc(with, func(s string) bool { return strings.HasPrefix(s, "parallel.dp=") })
				}
			}
			fixed, err := scenarios.LoadWith("mixtral-8x7b-ep8", with)
			require.NoError(t, err, "%v", with)
			assert.Equal(t, 64, fixed.Parallel.World())
			all++
		}
	}
	assert.Greater(t, all, 6)
}

// Advice goes no further than it must: of a value the largest that fits.
func TestFixesTakeTheLargestThatFits(t *testing.T) {
	value := func(text, key string) any {
		for _, f := range fixesOf(t, text) {
			if v, there := f.Change[key]; there {
				return v
			}
		}
		return nil
	}
	assert.Equal(t, 3, value(`
[model]
preset = "llama-2-7b"
[cluster]
preset = "dgx-a100"
[parallel]
zero = 3
[schedule]
microbatch_size = 9
`, "schedule.microbatch_size"), "a third of 9, not 1")
	prefetch := `
[model]
preset = "gpt2-124m"
[cluster]
gpu = "rtx4090-24gb"
gpus_per_node = 1
[data]
gpu_prefetch = true
workers = 32
prefetch = %d
sample_bytes = "100MB"
`
	fits, ok := value(fmt.Sprintf(prefetch, 8), "data.prefetch").(int)
	require.True(t, ok)
	path := filepath.Join(t.TempDir(), "x.toml")
	for n, want := range map[int]string{fits: "yes", fits + 1: "does not fit"} {
		require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, prefetch, n), 0o666))
		assert.Contains(t, trainsim("memory", path).stdout, want, "prefetch %d", n)
	}
}

// FP8 weights save their copies.
func TestFixesKeepWeightsInFP8(t *testing.T) {
	list := fixesOf(t, `
[model]
preset = "llama-3-8b"
[cluster]
preset = "dgx-h100"
[parallel]
tp = 2
pp = 2
zero = 1
sequence_parallel = true
[schedule]
microbatches = 8
[gpu]
memory = "43GiB"
[training]
precision = "fp8"
`)
	require.NotEmpty(t, list)
	assert.Contains(t, list[0].Text, "training.fp8_param_gather = true")
}
