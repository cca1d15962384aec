package scenarios

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/input"
)

var update = flag.Bool("update", false, "rewrite the expected messages of testdata/bad")

// foreign matches problems whose words are another package's: only their place
// is compared.
var foreign = regexp.MustCompile(`(?m)^(\S+: (?:memory\.alloc_conf|nccl\.algo|schedule\.csv|schedule\.microbatches: schedule|cluster\.topology|cluster\.nics|cluster\.nic_bandwidth):?) .*;.*$`)

// TestBadScenarios compares the messages about every broken file in
// testdata/bad with those in the .txt beside it.
func TestBadScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.toml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".toml"), func(t *testing.T) {
			_, err := Load(file)
			require.Error(t, err)
			var all *input.Errors
			require.ErrorAs(t, err, &all)
			got := foreign.ReplaceAllString(filepath.ToSlash(err.Error()), "$1 (in the words of its package)") + "\n"
			want := strings.TrimSuffix(file, ".toml") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(want, []byte(got), 0o644))
			}
			text, err := os.ReadFile(want)
			require.NoError(t, err)
			assert.Equal(t, string(text), got)
			checkForm(t, all)
		})
	}
}

// checkForm: every problem of a file has a place, says what to write instead,
// and they stand in the order of their places.
func checkForm(t *testing.T, e *input.Errors) {
	t.Helper()
	for _, p := range e.Problems {
		if p.Line == 0 {
			continue // the whole file
		}
		assert.Positive(t, p.Column, p.Text)
		text, caret, _ := strings.Cut(p.Excerpt(), "\n")
		assert.LessOrEqual(t, len(caret), len([]rune(text))+1, p.Text)
	}
	assert.True(t, sort.SliceIsSorted(e.Problems, func(i, j int) bool {
		a, b := e.Problems[i], e.Problems[j]
		return a.File == b.File && (a.Line < b.Line || a.Line == b.Line && a.Column < b.Column)
	}))
}

// TestExpectedMessagesHaveAFile: no message outlives the file that it is about.
func TestExpectedMessagesHaveAFile(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		assert.FileExists(t, strings.TrimSuffix(file, ".txt")+".toml")
	}
}

func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.toml")
	f, err := os.Create(large)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(100<<20))
	require.NoError(t, f.Close())
	for name, want := range map[string]string{
		filepath.Join(dir, "nowhere.toml"): "does not exist; write the path of a scenario",
		"70b-tp4-pp3":                      `is neither a file nor a built-in scenario; did you mean "70b-tp4-pp2"?`,
		dir:                                "is a directory; write the path of a scenario in it",
		large:                              "is 104 MB large; a scenario is a text file of at most 4 MiB",
		"":                                 "has no name; write the path of a file",
	} {
		_, err := Load(name)
		var all *input.Errors
		require.True(t, errors.As(err, &all), name)
		assert.Contains(t, err.Error(), want)
	}
}

// What rests on a key that failed is not said; what its words only happen to name
// is.
func TestProblemsRestOnKeys(t *testing.T) {
	_, err := LoadWith("7b-dp8-8x24gb", []string{"model.attention=17", "model.rope_head_dim=1"})
	assert.ErrorContains(t, err, "model.attention: \"17\" is not known here")
	assert.ErrorContains(t, err, "model.rope_head_dim: is for latent attention")
	_, err = LoadWith("7b-dp8-8x24gb", []string{"model.kv_lora_rank=x", "model.rope_head_dim=1"})
	assert.ErrorContains(t, err, "model.kv_lora_rank: is a string")
	assert.NotContains(t, err.Error(), "model.rope_head_dim")
	_, err = LoadWith("7b-dp8-8x24gb", []string{"cluster.gpus_per_node=x", "cluster.visible_devices=[0]"})
	assert.ErrorContains(t, err, "cluster.gpus_per_node: is a string")
	assert.NotContains(t, err.Error(), "cluster.visible_devices")
}
