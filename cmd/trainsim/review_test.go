package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The folder for a design review holds what its README.md speaks of, the
// scenario in it gives the same run, and the same command the same bytes.
func TestReview(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		r := trainsim("run", "pp4-1f1b-8", "-q", "--no-plots=false", "--out", filepath.Join(dir, "out"), "--report", filepath.Join(dir, "review"), "--format", "png,svg,pdf", "--size", "1000x600", "--title", "Layout A")
		require.Equal(t, exitOK, r.code, r.stderr)
	}
	files := folder(t, filepath.Join(one, "review"))
	sameFolder(t, files, folder(t, filepath.Join(two, "review")), "again")
	readme := files["README.md"]
	assert.Contains(t, readme, "# pp4-1f1b-8\n")
	assert.Contains(t, readme, "**It runs and fits.**")
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(readme, -1)
	assert.Greater(t, len(links), 12)
	linked := map[string]bool{"README.md": true}
	for _, l := range links {
		assert.Contains(t, files, l[1])
		linked[l[1]] = true
	}
	for name := range files {
		assert.True(t, linked[name], "README.md does not speak of %s", name)
	}
	assert.Contains(t, files["pipeline.svg"], "Layout A")

	first := trainsim("run", "pp4-1f1b-8", "-q", "--no-plots", "--out", filepath.Join(one, "out"))
	again := trainsim("run", filepath.Join(one, "review", "scenario.toml"), "-q", "--no-plots", "--out", filepath.Join(one, "out"))
	assert.Equal(t, first, again)
}

// A job that does not fit has its review too, and several get a folder each.
func TestReviewOfJobsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	r := trainsim("run", "7b-dp8-8x24gb", "pp4-gpipe-1", "-q", "--format", "pdf", "--out", filepath.Join(dir, "out"), "--report", dir)
	assert.Equal(t, exitUnrunnable, r.code)
	readme := folder(t, filepath.Join(dir, "7b-dp8-8x24gb"))["README.md"]
	assert.Contains(t, readme, "**It does not fit:** rank 0 (stage 0) needs ")
	assert.Contains(t, readme, "\n[What fills each stage's memory at its peak](memory-stages.pdf)\n", "a PDF is linked, not shown")
	assert.Contains(t, listDir(t, filepath.Join(dir, "pp4-gpipe-1")), "README.md")
}

func TestFigureFlags(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		`--format "gif"`:    {"--format", "png,gif"},
		`--size "big"`:      {"--size", "big"},
		"--size 10x10":      {"--size", "10x10"},
		"--format names no": {"--format", ""},
	} {
		r := trainsim(append([]string{"run", "pp4-1f1b-8", "-q", "-o", dir}, args...)...)
		assert.Equal(t, exitUsage, r.code, want)
		assert.Contains(t, r.stderr, want)
	}
	require.Equal(t, exitOK, trainsim("run", "pp4-1f1b-8", "-q", "-o", dir, "--format", "svg,pdf").code)
	assert.NotContains(t, listDir(t, dir), "pipeline.png")
	require.Equal(t, exitOK, trainsim("plot", filepath.Join(dir, "run.json"), "-q", "--format", "png,svg", "--size", "800x450").code)
	assert.Contains(t, listDir(t, dir), "pipeline.png")
}
