package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/output"
	"trainsim/sim/report"
	"trainsim/sim/search/journal"
)

// asProgram in the environment makes the test binary the command itself, so
// that a test can kill it.
const asProgram = "TRAINSIM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// small is a sweep of 24 points, some of them invalid, that takes a moment.
func small(dir string, more ...string) []string {
	return append([]string{"sweep", "pp4-1f1b-8", "-q", "--vary", "schedule.microbatches=2..24+2", "--vary", "schedule.kind=1f1b,interleaved", "-o", dir}, more...)
}

// folder reads all files of a folder, folders in it aside.
func folder(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	for _, name := range listDir(t, dir) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			out[name] = string(text)
		}
	}
	return out
}

// sameFolder compares folders and names the files that differ, not all of them.
func sameFolder(t *testing.T, want, got map[string]string, why string) {
	t.Helper()
	for name := range want {
		assert.True(t, want[name] == got[name], "%s: %s differs", why, name)
	}
	for name := range got {
		assert.Contains(t, want, name, why)
	}
}

// The results do not depend on how many points run at a time.
func TestSweepIsTheSameWithOneAndEightWorkers(t *testing.T) {
	one, eight := t.TempDir(), t.TempDir()
	a := trainsim(small(one, "--jobs", "1")...)
	b := trainsim(small(eight, "--jobs", "8")...)
	require.Equal(t, exitOK, a.code, a.stderr)
	assert.Equal(t, a, b)
	files := folder(t, one)
	sameFolder(t, files, folder(t, eight), "8 workers")
	for _, name := range []string{"sweep.csv", "sweep.json", "sweep.jsonl", "sweep.png"} {
		assert.NotEmpty(t, files[name], name)
	}
	assert.Contains(t, a.stdout, "pp4-1f1b-8: 24 points")
	assert.Contains(t, a.stdout, "Invalid: ")
	assert.Equal(t, files["sweep.json"], trainsim(small(one, "--json")...).stdout, "--json prints sweep.json")
}

// A point is what `run` makes of the same settings, every rank simulated.
func TestSweepPointsAreRuns(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, trainsim("sweep", "70b-tp4-pp2", "-q", "--no-plots", "--vary", "schedule.microbatches=2,6", "-o", dir).code)
	var doc struct{ Points []report.SweepRow }
	require.NoError(t, json.Unmarshal([]byte(folder(t, dir)["sweep.json"]), &doc))
	for _, p := range doc.Points {
		var rep report.Report
		r := trainsim("run", "70b-tp4-pp2", "-q", "--no-plots", "--json", "-o", dir, "--set", "schedule.microbatches="+p.Settings[0].Value)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &rep))
		assert.Equal(t, rep.StepTime, p.StepTime)
		assert.Equal(t, rep.MFU, p.MFU)
		assert.Equal(t, rep.Bubble.OverTotal, p.Bubble)
		assert.Equal(t, rep.MemoryPerStage[0].NvidiaSMI, p.PeakMemory)
	}
}

// killed runs a command line in a process of its own and kills it, as kill -9
// does, once its journal has grown by so many rows; it reports whether the
// process came to its end before that.
func killed(t *testing.T, args []string, path string, rows int) bool {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	count := func() int {
		text, _ := os.ReadFile(path)
		return bytes.Count(text, []byte("\n"))
	}
	before := count()
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			require.NoError(t, err)
			return true
		default:
		}
		if count() >= before+rows {
			require.NoError(t, cmd.Process.Kill())
			return <-ended == nil
		}
	}
}

// A sweep that is killed again and again ends with the bytes of one that was
// not, whatever the last write left behind.
func TestSweepSurvivesKill(t *testing.T) {
	whole := t.TempDir()
	require.Equal(t, exitOK, trainsim(small(whole)...).code)
	kills := 0
	// on a busy machine a sweep may end after fewer kills: go on in a new folder
	for folders := 0; kills < 3 && folders < 20; folders++ {
		dir := t.TempDir()
		kills += killUntilDone(t, dir)
		sameFolder(t, folder(t, whole), folder(t, dir), "killed")
	}
	assert.GreaterOrEqual(t, kills, 3)
}

// killUntilDone runs a sweep, killed whenever it has got some points further,
// until it comes to its end, and returns the number of kills.
func killUntilDone(t *testing.T, dir string) int {
	path := filepath.Join(dir, journal.Name)
	for kills := 0; ; kills++ {
		if killed(t, small(dir, "--jobs", "2"), path, []int{3, 1, 4, 2, 5}[kills%5]) {
			return kills
		}
		if kills%2 == 0 { // a crash of the machine tears the last line
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			f.WriteString(`{"point":3,"id":"0123`)
			require.NoError(t, f.Close())
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".trainsim-00000000-1-0.tmp"), []byte("half"), 0o666))
		}
	}
}

// However far the journal got, going on gives the same files.
func TestSweepResumesFromAnyJournal(t *testing.T) {
	whole := t.TempDir()
	require.Equal(t, exitOK, trainsim(small(whole, "--no-plots")...).code)
	files := folder(t, whole)
	text := files[journal.Name]
	for _, cut := range []int{0, 10, len(text) / 3, len(text)/2 + 1, len(text) - 1} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, journal.Name), []byte(text[:cut]), 0o666))
		args := small(dir, "--no-plots")
		if cut == 10 { // a header that was never whole
			r := trainsim(args...)
			assert.Equal(t, exitInput, r.code)
			assert.Contains(t, r.stderr, "start over with --fresh")
			args = append(args, "--fresh")
		}
		r := trainsim(args...)
		require.Equal(t, exitOK, r.code, r.stderr)
		sameFolder(t, files, folder(t, dir), fmt.Sprint("cut at ", cut))
	}
}

// A line that was changed is not believed: its point runs again, and is named.
func TestSweepDoesNotBelieveAChangedJournal(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, trainsim(small(dir, "--no-plots")...).code)
	files := folder(t, dir)
	path := filepath.Join(dir, journal.Name)
	lines := strings.SplitAfter(files[journal.Name], "\n")
	lines[5] = strings.Replace(lines[5], `"step_time_s":`, `"step_time_s":-`, 1)
	require.Contains(t, lines[5], `"step_time_s":-`)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666))
	r := trainsim(small(dir, "--no-plots")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stderr, "warning: "+path+": line 6 is damaged: its checksum is another: it was changed or damaged; what was there runs again")
	sameFolder(t, files, folder(t, dir), "repaired")
}

// A failed point is a result, tried again only when that is asked for.
func TestSweepRetriesFailuresWhenAsked(t *testing.T) {
	dir := t.TempDir()
	sweep := func(more ...string) result {
		args := []string{"sweep", "pp4-1f1b-8", "--no-plots", "-o", dir, "--vary", "schedule.microbatches=4,8", "--max-events", "5"}
		return trainsim(append(args, more...)...)
	}
	first := sweep("-q")
	assert.Equal(t, exitFailure, first.code)
	assert.Contains(t, first.stdout, "Failed: 2 of 2 points, first point 0: event limit reached: 5 events")
	assert.Contains(t, first.stderr, "2 of 2 points failed; --retry-failed simulates them again")
	files := folder(t, dir)
	assert.Contains(t, files["sweep.json"], `"outcome":"failed"`)
	again := sweep()
	assert.Contains(t, again.stderr, "has 2 results already")
	assert.Equal(t, first.stdout, again.stdout)
	assert.NotContains(t, sweep("--retry-failed").stderr, "results already")
	sameFolder(t, files, folder(t, dir), "again")
	assert.Equal(t, exitUsage, sweep("--retry-failed", "--fresh").code)
}

// A journal of before checksums, and one with two results of a point, is an input
// that is not what it should be.
func TestSweepRefusesJournals(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, trainsim(small(dir, "--no-plots")...).code)
	path := filepath.Join(dir, journal.Name)
	text := folder(t, dir)[journal.Name]
	old := strings.Replace(text, "sweep-journal/v2", "sweep-journal/v1", 1)
	require.NoError(t, os.WriteFile(path, []byte(old), 0o666))
	r := trainsim(small(dir, "--no-plots")...)
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, path+": it is a journal of another version of trainsim")
	assert.Contains(t, r.stderr, "write elsewhere with --out, or start over with --fresh")
	require.Equal(t, exitOK, trainsim(small(dir, "--no-plots", "--fresh")...).code)
	assert.Equal(t, text, folder(t, dir)[journal.Name])
}

func TestSweepRefusesAnotherSweepsFolder(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, trainsim(small(dir, "--no-plots")...).code)
	files := folder(t, dir)
	for want, more := range map[string][]string{
		"what varies":            {"--vary", "parallel.tp=1,2"},
		"what the scenario says": {"--set", "seed=3"},
	} {
		r := trainsim(small(dir, more...)...)
		assert.Equal(t, exitUsage, r.code, want)
		assert.Contains(t, r.stderr, "holds the results of another sweep")
		sameFolder(t, files, folder(t, dir), "refused")
	}
	r := trainsim(small(dir, "--no-plots", "--set", "seed=3", "--fresh")...)
	assert.Equal(t, exitOK, r.code, r.stderr)
	assert.NotEqual(t, files["sweep.json"], folder(t, dir)["sweep.json"])
}

func TestTwoSweepsInOneFolderAreRefused(t *testing.T) {
	dir := t.TempDir()
	unlock, err := output.Lock(dir)
	require.NoError(t, err)
	r := trainsim(small(dir, "--no-plots")...)
	assert.Equal(t, exitFailure, r.code)
	assert.Contains(t, r.stderr, dir+" is in use by another trainsim")
	unlock()
	assert.Equal(t, exitOK, trainsim(small(dir, "--no-plots")...).code)
}

// Ctrl-C keeps what is done.
func TestSweepInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	var out, errs bytes.Buffer
	path := filepath.Join(dir, journal.Name)
	go func() {
		for ctx.Err() == nil {
			if text, _ := os.ReadFile(path); bytes.Count(text, []byte("\n")) > 3 {
				cancel()
			}
		}
	}()
	// So many points that a busy machine interrupts it in time, too.
	args := []string{"sweep", "pp4-1f1b-8", "--vary", "schedule.microbatches=1..200", "-o", dir, "--no-plots", "--jobs", "1"}
	code := run(ctx, args, strings.NewReader(""), &out, &errs)
	cancel()
	assert.Equal(t, exitInterrupted, code)
	assert.Empty(t, out.String())
	assert.Contains(t, errs.String(), "the same command goes on from there\ntrainsim: interrupted\n")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, strings.Count(string(text), "\n"), 4)
	assert.NotContains(t, listDir(t, dir), "sweep.csv")
	require.Equal(t, exitOK, trainsim(append(args, "-q", "--jobs", "2")...).code)
}

func TestSweepExitCodes(t *testing.T) {
	dir := t.TempDir()
	n := 0
	sweep := func(args ...string) result {
		n++
		return trainsim(append([]string{"sweep", "-q", "--no-plots", "-o", filepath.Join(dir, fmt.Sprint(n))}, args...)...)
	}
	tests := []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "nothing varies", []string{"pp4-1f1b-8"}},
		{exitUsage, "--vary parallel.tpp is not a key", []string{"pp4-1f1b-8", "--vary", "parallel.tpp=1"}},
		{exitUsage, `--keep "x"`, []string{"pp4-1f1b-8", "--vary", "schedule.microbatches=1", "--keep", "x"}},
		{exitUsage, `--size "9"`, []string{"pp4-1f1b-8", "--vary", "schedule.microbatches=1", "--size", "9"}},
		{exitUsage, "--size 9x9: a figure of 9 x 9 pixels", []string{"pp4-1f1b-8", "--vary", "schedule.microbatches=1", "--size", "9x9"}},
		{exitUsage, `--format "gif"`, []string{"pp4-1f1b-8", "--vary", "schedule.microbatches=1", "--format", "png,gif"}},
		{exitUsage, `--shard "3/3"`, []string{"pp4-1f1b-8", "--vary", "schedule.microbatches=1", "--shard", "3/3"}},
		{exitInput, "is neither a file nor a built-in scenario", []string{"nonesuch", "--vary", "schedule.microbatches=1"}},
		{exitInput, "--set:1:", []string{"pp4-1f1b-8", "--vary", "schedule.microbatches=1,2", "--set", "parallel.tp=banana"}},
		{exitInput, "no point of the sweep is valid", []string{"pp4-1f1b-8", "--vary", "parallel.pp=3,5"}},
		{exitUnrunnable, "no point of the sweep runs", []string{"7b-dp8-8x24gb", "--vary", "schedule.microbatches=1,2"}},
		{exitFailure, "2 of 2 points failed", []string{"pp4-1f1b-8", "--vary", "schedule.microbatches=4,8", "--max-events", "5"}},
	}
	for _, tt := range tests {
		r := sweep(tt.args...)
		assert.Equal(t, tt.code, r.code, "%v: %s", tt.args, r.stderr)
		assert.Contains(t, r.stderr, tt.want, tt.args)
	}
}

// The figure comes in every format asked for, with the same bytes each time.
func TestSweepFormats(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		r := trainsim("sweep", "pp4-1f1b-8", "-q", "--vary", "schedule.microbatches=2..16*2", "--format", "png,svg,pdf", "--size", "800x450", "--title", "A title", "-o", dir)
		require.Equal(t, exitOK, r.code, r.stderr)
	}
	files := folder(t, one)
	sameFolder(t, files, folder(t, two), "again")
	assert.Contains(t, files["sweep.svg"], "A title")
	assert.True(t, strings.HasPrefix(files["sweep.pdf"], "%PDF"))
}
