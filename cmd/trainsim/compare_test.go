package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
)

// A saved run beside the scenario that it is of differs in nothing.
func TestCompareSavedRunAndScenario(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, trainsim("run", "pp4-1f1b-8", "-q", "--no-plots", "-o", dir).code)
	for _, saved := range []string{dir, filepath.Join(dir, "run.json")} {
		r := trainsim("compare", saved, "pp4-1f1b-8", "-q", "--no-plots", "--json", "-o", dir)
		require.Equal(t, exitOK, r.code, r.stderr)
		var c report.Comparison
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &c))
		assert.Equal(t, []string{saved, "pp4-1f1b-8"}, c.Names, "one name for two is none")
		assert.Empty(t, c.Settings)
		for _, x := range c.Results {
			assert.Equal(t, x.Values[0], x.Values[1], x.Key)
		}
		assert.Equal(t, r.stdout, folder(t, dir)["compare.json"])
	}
}

func TestCompareDrawsTheSameFigures(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		r := trainsim("compare", "pp4-gpipe-8", "pp4-1f1b-8", "-q", "--baseline", "pp4-1f1b-8", "--format", "svg,png", "-o", dir)
		require.Equal(t, exitOK, r.code, r.stderr)
		assert.Contains(t, r.stdout, "times the baseline, pp4-1f1b-8)")
		assert.Contains(t, r.stdout, `schedule.kind      "gpipe"      "1f1b"`)
	}
	assert.ElementsMatch(t, []string{"compare.json", "compare.svg", "compare.png", "compare-pipelines.svg", "compare-pipelines.png"}, listDir(t, one))
	sameFolder(t, folder(t, one), folder(t, two), "again")
}

func TestCompareExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	tests := []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "requires at least 2 arg", []string{"pp4-1f1b-8"}},
		{exitUsage, `did you mean "pp4-1f1b-8"?`, []string{"pp4-1f1b-8", "pp4-gpipe-8", "--baseline", "pp4-1f1b"}},
		{exitInput, "no such file", []string{"pp4-1f1b-8", "none.json"}},
		{exitInput, "is neither a file nor a built-in scenario", []string{"pp4-1f1b-8", "none"}},
	}
	for _, tt := range tests {
		r := trainsim(append([]string{"compare", "-q", "--no-plots"}, tt.args...)...)
		assert.Equal(t, tt.code, r.code, "%v: %s", tt.args, r.stderr)
		assert.Contains(t, r.stderr, tt.want, tt.args)
	}
}

// A folder does not mix two comparisons either.
func TestAFolderHoldsOneComparison(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, trainsim("compare", "pp4-gpipe-8", "pp4-1f1b-8", "-q", "-o", dir).code)
	require.Equal(t, exitOK, trainsim("compare", "pp4-gpipe-8", "pp4-gpipe-1", "-q", "--no-plots", "-o", dir).code)
	assert.Equal(t, []string{"compare.json"}, listDir(t, dir))
}
