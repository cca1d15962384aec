package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
)

// plan runs the command on the small job.
func plan(t *testing.T, dir string, args ...string) result {
	return trainsim(append([]string{"plan", "../../sim/search/testdata/small.toml", "-q", "--global-batch", "8", "-o", filepath.Join(dir, "out")}, args...)...)
}

// The winner runs as planned, and the same command again changes nothing.
func TestPlanWritesItsWinner(t *testing.T) {
	dir := t.TempDir()
	r := plan(t, dir, "--fix", "schedule.microbatch_size=1", "--jobs", "3")
	require.Equal(t, exitOK, r.code, r.stderr)
	out := filepath.Join(dir, "out")
	files := folder(t, out)
	assert.ElementsMatch(t, []string{".lock", "plan.csv", "plan.json", "plan.png", "plan.toml", "sweep.jsonl"}, listDir(t, out))
	var doc report.Plan
	require.NoError(t, json.Unmarshal([]byte(files["plan.json"]), &doc))
	best := doc.Sizes[0].Best
	require.Len(t, best, 10)
	assert.Contains(t, r.stdout, "8 GPUs: "+doc.Sizes[0].Verdict)

	var rep report.Report
	run := trainsim("run", filepath.Join(out, "plan.toml"), "-q", "--no-plots", "--json", "-o", dir)
	require.Equal(t, exitOK, run.code, run.stderr)
	require.NoError(t, json.Unmarshal([]byte(run.stdout), &rep))
	assert.Equal(t, best[0].StepTime, rep.StepTime)
	assert.Equal(t, best[0].Mean.Compute, mean(rep.TimePerStage))

	assert.Equal(t, r.stdout, plan(t, dir, "--fix", "schedule.microbatch_size=1", "--jobs", "1").stdout)
	sameFolder(t, files, folder(t, out), "again, from the journal")
	assert.Equal(t, r.stdout, plan(t, dir, "--fix", "schedule.microbatch_size=1", "--jobs", "1", "--fresh").stdout)
	sameFolder(t, files, folder(t, out), "again, with one worker")
}

func mean(stages []report.StageTime) float64 {
	sum := 0.0
	for _, s := range stages {
		sum += s.Compute / float64(len(stages))
	}
	return sum
}

func TestPlanConstraints(t *testing.T) {
	dir := t.TempDir()
	r := plan(t, dir, "--no-plots", "--json", "--fix", "parallel.tp=2", "--fix", "schedule.kind=1f1b", "--fix", "training.optimizer=sgd", "--min-microbatches", "2", "--max-memory", "2GiB")
	require.Equal(t, exitOK, r.code, r.stderr)
	var doc report.Plan
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &doc))
	for _, e := range append(doc.Sizes[0].Best, doc.Sizes[0].Front...) {
		v := e.Settings.Value
		assert.Equal(t, "2", v("parallel.tp"))
		assert.Equal(t, "1f1b", v("schedule.kind"))
		assert.NotEqual(t, "1", v("schedule.microbatches"))
		assert.LessOrEqual(t, e.PeakMemory, int64(2<<30))
		assert.EqualValues(t, 8, e.Samples)
	}
}

func TestPlanSaysThatDataParallelIsEnough(t *testing.T) {
	t.Chdir(t.TempDir())
	r := trainsim("plan", "ddp8-small-pcie", "-q", "--no-plots", "--fix", "parallel.cp=1", "--fix", "training.recompute=none")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stdout, "8 GPUs: data parallel is enough")
	r = trainsim("plan", "1b-static", "-q", "--no-plots", "--global-batch", "8")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stdout, "1 GPUs: one GPU holds it all")
}

func TestPlanExitCodes(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, `--fix "x"`, []string{"--fix", "x"}},
		{exitUsage, "is not a count", []string{"--fix", "parallel.tp=two"}},
		{exitUsage, "--schedules", []string{"--schedules", "nonesuch"}},
		{exitUsage, `--max-memory "72"`, []string{"--max-memory", "72"}},
		{exitUsage, "write multiples of that", []string{"--gpus", "12"}},
		{exitInput, "nonesuch", []string{"--fix", "training.optimizer=nonesuch"}},
		{exitUnrunnable, "no layout of small fits", []string{"--max-memory", "1GiB", "--fix", "schedule.microbatch_size=8"}},
	}
	for _, tt := range tests {
		r := plan(t, dir, append(tt.args, "--no-plots", "--fresh")...)
		assert.Equal(t, tt.code, r.code, "%v: %s", tt.args, r.stderr)
		assert.Contains(t, r.stderr, tt.want, tt.args)
	}
}

// A search that starts over leaves nothing of the one before.
func TestAFolderHoldsOnePlan(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, plan(t, dir, "--fix", "schedule.microbatch_size=1", "--gpus", "8,16", "--fix", "parallel.tp=1").code)
	out := filepath.Join(dir, "out")
	require.FileExists(t, filepath.Join(out, "plan-16.toml"))
	r := plan(t, dir, "--fix", "schedule.microbatch_size=1", "--fix", "parallel.tp=1", "--fresh", "--no-plots")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.ElementsMatch(t, []string{".lock", "plan.csv", "plan.json", "plan.toml", "sweep.jsonl"}, listDir(t, out))
}

// The name of a plan's scenario is one that scenarios may have.
func TestNamesOfPlans(t *testing.T) {
	assert.Equal(t, "a-plan-64", nameWith("a", "-plan-64"))
	name := nameWith(strings.Repeat("é", 100), "-plan")
	assert.Equal(t, 199, len(name))
	assert.True(t, strings.HasSuffix(name, "é-plan"))
}
