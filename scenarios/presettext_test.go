package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWholePresets: what `trainsim list` prints of a preset stands on no other,
// gives the same figures, and holds every comment of the preset's own file.
func TestWholePresets(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range []string{"gpus", "clusters", "models"} {
		for _, name := range builtinNames(kind) {
			whole, err := Source(kind, name)
			require.NoError(t, err)
			assert.NotContains(t, string(whole), "\npreset = ")
			for line := range strings.Lines(string(readBuiltin(kind + "/" + name + ".toml"))) {
				if line[0] == '#' {
					assert.Contains(t, string(whole), line, name)
				}
			}
			file := filepath.Join(dir, name+".toml")
			require.NoError(t, os.WriteFile(file, whole, 0o644))
			assert.Equal(t, machineOf(t, kind, name), machineOf(t, kind, file), name)
		}
	}
}

// machineOf loads a preset of a kind.
func machineOf(t *testing.T, kind, name string) any {
	t.Helper()
	switch kind {
	case "gpus":
		d, err := LoadGPU(name)
		require.NoError(t, err)
		return d
	case "clusters":
		c, d, err := LoadCluster(name)
		require.NoError(t, err)
		return []any{c, d}
	}
	cfg, err := LoadReader(strings.NewReader("cluster.preset = \"dgx-h100\"\nmodel.preset = \""+name+"\"\n"),
		"job.toml", nil)
	require.NoError(t, err)
	return cfg.Model
}

// TestCommentsOfPresetsCoverTheirKeys: a key below another file's comment would
// have a source that is not its own.
func TestCommentsOfPresetsCoverTheirKeys(t *testing.T) {
	top := cutPreset([]byte(`description = "ours"
# Half of theirs.
preset = "theirs"

# Measured.
b = 1

[t]
tiles = [
  {m = 1},
]
`))
	base := cutPreset([]byte(`description = "theirs"

# Data sheet.
a = 2
b = 2
c = 2

# Fitted.
[t]
x = 2
tiles = [
  {m = 2},
  {n = 2},
]
y = 2
# A guess.
z = 2
`))
	assert.Equal(t, "theirs", top.base)
	assert.Equal(t, `# Half of theirs.
description = "ours"

# Data sheet.
a = 2

# Measured.
b = 1

# Data sheet.
c = 2

# Fitted.
[t]
x = 2

tiles = [
  {m = 1},
]

# Fitted.
y = 2
# A guess.
z = 2
`, top.over(base).write())
}

// TestWholeFrameworks: what is printed of a framework decides the same for jobs of
// all sorts of hardware, models and dates.
func TestWholeFrameworks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range builtinNames("frameworks") {
		whole, err := Source("frameworks", name)
		require.NoError(t, err)
		assert.NotRegexp(t, `(?m)^preset = `, string(whole))
		file := filepath.Join(dir, name+".toml")
		require.NoError(t, os.WriteFile(file, whole, 0o644))
		for _, gpu := range []string{"a100-sxm4-80gb", "b200-sxm-180gb"} {
			for _, sets := range []string{"", "model.norm=layernorm", "model.attention=unfused"} {
				for _, date := range []string{"", "2022-06", "2024-03"} {
					of := func(preset string) any {
						text := "cluster.gpu = \"" + gpu + "\"\ncluster.gpus_per_node = 1\nmodel.preset = \"generic-1b\"\n"
						cfg, err := LoadReader(strings.NewReader(text), "job.toml", append(strings.Fields(sets),
							"framework.preset="+preset, "framework.software_date="+date, "framework.name=x"))
						require.NoError(t, err)
						return cfg.Framework
					}
					require.Equal(t, of(name), of(file), "%s %s %s %s", name, gpu, sets, date)
				}
			}
		}
	}
}
