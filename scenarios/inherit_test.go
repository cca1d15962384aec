package scenarios

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write puts files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return dir
}

// TestChainOfOwnPresets: of presets that stand on each other the nearest decides,
// key by key in tables, while an array is taken whole.
func TestChainOfOwnPresets(t *testing.T) {
	dir := write(t, map[string]string{
		"job.toml":             "model.preset = \"small\"\ncluster.preset = \"ours\"\n[gpu]\nmemory = \"20GiB\"\n",
		"models/small.toml":    "preset = \"generic-1b\"\nlayers = 2\n",
		"clusters/ours.toml":   "preset = \"theirs\"\nnic_bandwidth = \"100Gb/s\"\n",
		"clusters/theirs.toml": "preset = \"dgx-a100\"\ngpu = \"slow\"\nnics = 2\nnic_bandwidth = \"50Gb/s\"\n",
		"gpus/slow.toml":       "preset = \"slower\"\naliases = [\"SLOW\"]\nmemory = \"30GiB\"\n[gemm]\ntail = 0.5\n",
		"gpus/slower.toml": "preset = \"a100-sxm4-80gb\"\nmemory = \"35GiB\"\nsms = 54\n[gemm]\ntail = " +
			"0.25\nnn_efficiency = 0.5\n",
	})
	cfg, err := Load(filepath.Join(dir, "job.toml"))
	require.NoError(t, err)
	base, err := LoadGPU("a100-sxm4-80gb")
	require.NoError(t, err)
	assert.Equal(t, "small", cfg.Model.Name)
	assert.EqualValues(t, 2, cfg.Model.Layers)
	assert.EqualValues(t, 2560, cfg.Model.Hidden, "generic-1b's")
	assert.Equal(t, 2, cfg.Cluster.NICs)
	assert.InDelta(t, 12.5e9, float64(cfg.Cluster.NICBandwidth), 0)
	assert.Equal(t, 12, cfg.Cluster.NVLinks, "dgx-a100's")
	want := *base
	want.Name, want.Aliases, want.Memory, want.SMs, want.GEMM.Tail, want.GEMM.NN = "slow", []string{"SLOW"}, 20<<30, 54, 0.5, 0.5
	assert.Equal(t, want, cfg.GPU)
}

// TestPublishedRunsAreTheFilesOwn: a machine that stands on one of published runs
// is not one itself.
func TestPublishedRunsAreTheFilesOwn(t *testing.T) {
	dir := write(t, map[string]string{"ours.toml": "preset = \"vtrain-a100-80gb\"\nnics = 2\n"})
	c, _, err := LoadCluster(filepath.Join(dir, "ours.toml"))
	require.NoError(t, err)
	assert.Equal(t, 2, c.NICs)
	assert.Equal(t, "BLOOM (BigScience)", describe("clusters", "jeanzay-a100-80gb").PublishedRuns)
	over := cutPreset([]byte("preset = \"jeanzay-a100-80gb\"\n")).over(cutPreset(readBuiltin("clusters/jeanzay-a100-80gb.toml")))
	assert.NotContains(t, over.write(), publishedRuns)
}

// TestPresetBesideAPreset: a preset elsewhere finds what it stands on beside itself.
func TestPresetBesideAPreset(t *testing.T) {
	dir := write(t, map[string]string{
		"lab/top.toml":     "preset = \"base\"\nsms = 7\n",
		"lab/base.toml":    "preset = \"t4\"\n",
		"lab/gpus/t4.toml": "preset = \"h100-sxm5-80gb\"\nmemory = \"7GiB\"\n",
	})
	d, err := LoadGPU(filepath.Join(dir, "lab", "top.toml"))
	require.NoError(t, err)
	assert.Equal(t, 7, d.SMs)
	assert.EqualValues(t, 7<<30, d.Memory)
}

// TestPresetOfABuiltInName: a file may have the name of the built-in preset on
// which it stands, and what is built in does not come to stand on it.
func TestPresetOfABuiltInName(t *testing.T) {
	dir := write(t, map[string]string{
		"job.toml":                 "model.preset = \"generic-1b\"\ncluster.preset = \"hgx-h100-1node\"\n",
		"gpus/h100-sxm5-80gb.toml": "preset = \"h100-sxm5-80gb\"\nmemory = \"70GiB\"\n",
		"clusters/dgx-h100.toml":   "preset = \"hgx-h100-1node\"\nnics = 1\n",
	})
	cfg, err := Load(filepath.Join(dir, "job.toml"))
	require.NoError(t, err)
	assert.EqualValues(t, 70<<30, cfg.GPU.Memory)
	assert.Equal(t, 8, cfg.Cluster.NICs)
	cfg, err = LoadWith(filepath.Join(dir, "job.toml"), []string{"cluster.preset=dgx-h100"})
	require.NoError(t, err)
	assert.Equal(t, 1, cfg.Cluster.NICs)
}
