package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
	"trainsim/sim/search/journal"
)

// Seven shards that are joined are one sweep, byte for byte, and there are no
// gaps and no doubles.
func TestShardsJoinIntoTheWhole(t *testing.T) {
	one, many := t.TempDir(), t.TempDir()
	require.Equal(t, exitOK, trainsim(small(one)...).code)
	var dirs []string
	for i := range 7 {
		r := trainsim(small(many, "--no-plots", "--shard", fmt.Sprintf("%d/7", i))...)
		require.Equal(t, exitOK, r.code, r.stderr)
		dirs = append(dirs, filepath.Join(many, fmt.Sprintf("shard-%d-of-7", i)))
	}
	r := trainsim(append(append([]string{"merge", "-q", "-o", many}, dirs[3:]...), dirs[:3]...)...)
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Empty(t, r.stderr)
	files := folder(t, one)
	sameFolder(t, files, folder(t, many), "7 shards")
	assert.Equal(t, r.stdout, trainsim(small(one)...).stdout)

	again := trainsim(append([]string{"merge", "-q", "-o", many}, dirs...)...)
	assert.Equal(t, r, again, "merging again changes nothing")
	sameFolder(t, files, folder(t, many), "again")
}

// What is missing is named and can be run; what is there twice is named.
func TestMergeReportsGapsAndDoubles(t *testing.T) {
	one, many := t.TempDir(), t.TempDir()
	require.Equal(t, exitOK, trainsim(small(one, "--no-plots")...).code)
	shard := func(i int) string { return filepath.Join(many, fmt.Sprintf("shard-%d-of-4", i)) }
	for _, i := range []int{0, 1, 3} {
		trainsim(small(many, "--no-plots", "--shard", fmt.Sprintf("%d/4", i))...)
	}
	path := filepath.Join(shard(1), journal.Name)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:len(text)-100], 0o666))
	out := filepath.Join(many, "all")
	r := trainsim("merge", "-q", "-o", out, shard(0), shard(1), shard(3), shard(3))
	assert.Equal(t, exitFailure, r.code)
	assert.Contains(t, r.stderr, "are both shard 3/4")
	assert.Contains(t, r.stderr, "missing: shard 2/4, point 21 of shard 1/4; what there is stands in "+out)
	assert.Empty(t, r.stdout)
	assert.NotContains(t, listDir(t, out), "sweep.csv")

	r = trainsim(small(out, "--no-plots", "--shard", "0/1")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	sameFolder(t, folder(t, one), folder(t, out), "filled")
}

// The folder of a whole search stands for its shards and takes what they make.
func TestMergeOfTheFolderOfAllShards(t *testing.T) {
	one, many, out := t.TempDir(), t.TempDir(), t.TempDir()
	require.Equal(t, exitOK, trainsim(small(one, "--no-plots")...).code)
	for i := range 2 {
		require.Equal(t, exitOK, trainsim(small(many, "--no-plots", "--shard", fmt.Sprintf("%d/2", i))...).code)
	}
	for _, args := range [][]string{{many}, {many, "-o", out}, {many}} {
		r := trainsim(append([]string{"merge", "-q", "--no-plots"}, args...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
	}
	sameFolder(t, folder(t, one), folder(t, many), "the folder itself")
	sameFolder(t, folder(t, one), folder(t, out), "another folder")
	r := trainsim("merge", filepath.Join(many, "shard-0-of-2"), filepath.Join(many, "shard-1-of-2"))
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.stderr, "--out is needed")
}

// Two results of a point are refused, with their places and what to do.
func TestMergeRefusesTwoResultsOfAPoint(t *testing.T) {
	dir := t.TempDir()
	shard := func(name string) string {
		require.Equal(t, exitFailure, trainsim("sweep", "pp4-1f1b-8", "-q", "--no-plots", "-o", filepath.Join(dir, name),
			"--vary", "schedule.microbatches=4,8", "--shard", "0/2", "--max-events", "5").code)
		return filepath.Join(dir, name, "shard-0-of-2")
	}
	a, b := shard("a"), shard("b")
	head, err := readHead(filepath.Join(a, journal.Name))
	require.NoError(t, err)
	for i, dir := range []string{a, b} {
		j, err := journal.Open(dir, head, journal.Fresh)
		require.NoError(t, err)
		require.NoError(t, j.Add(&report.SweepRow{
			ID: strings.Repeat("0", 32), Outcome: report.OutcomeOK, Settings: report.Settings{{Key: "schedule.microbatches", Value: "4"}},
			Metrics: &report.Metrics{GPUs: 1, Samples: 1, StepTime: float64(i + 1)},
		}))
		require.NoError(t, j.Finish())
		j.Close()
	}
	r := trainsim("merge", a, b, "-o", filepath.Join(dir, "out"))
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, fmt.Sprintf("trainsim: %s:2: point 0 has another result than is at %s:2; leave out the folder that is wrong or run it again",
		filepath.Join(b, journal.Name), filepath.Join(a, journal.Name)))
}

// readHead returns the header of a journal.
func readHead(path string) (*journal.Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := journal.Read(f, func(journal.Entry) error { return nil })
	if err != nil {
		return nil, err
	}
	return c.Header, nil
}

func TestMergeRefusesWhatDoesNotBelongTogether(t *testing.T) {
	dir := t.TempDir()
	make := func(name string, more ...string) string {
		trainsim(small(filepath.Join(dir, name), append(more, "--no-plots")...)...)
		return filepath.Join(dir, name)
	}
	a := filepath.Join(make("a", "--shard", "0/2"), "shard-0-of-2")
	b := filepath.Join(make("b", "--shard", "1/2", "--set", "seed=9"), "shard-1-of-2")
	c := filepath.Join(make("c", "--shard", "1/3"), "shard-1-of-3")
	for want, args := range map[string][]string{
		"are shards of different sweeps; they differ in the options": {a, b},
		"is one of 2 shards and":                                     {a, c},
		"holds no results of a sweep":                                {a, dir},
	} {
		r := trainsim(append([]string{"merge", "-o", filepath.Join(dir, "out")}, args...)...)
		assert.Equal(t, exitInput, r.code)
		assert.Contains(t, r.stderr, want)
	}
	assert.Equal(t, exitUsage, trainsim("merge", a).code, "--out is needed")
}

// A plan in shards has the results of a plan in one process.
func TestPlanShardsJoin(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--fix", "schedule.microbatch_size=1", "--max-memory", "2GiB"}
	require.Equal(t, exitOK, plan(t, dir, args...).code)
	whole := folder(t, filepath.Join(dir, "out"))
	many := t.TempDir()
	for i := range 3 {
		r := plan(t, many, append(args, "--no-plots", "--shard", fmt.Sprintf("%d/3", i))...)
		require.Equal(t, exitOK, r.code, r.stderr)
	}
	out := filepath.Join(many, "out")
	r := trainsim("merge", "-q", "-o", out, filepath.Join(out, "shard-0-of-3"), filepath.Join(out, "shard-1-of-3"), filepath.Join(out, "shard-2-of-3"))
	require.Equal(t, exitOK, r.code, r.stderr)
	joined := folder(t, out)
	for _, name := range []string{"plan.csv", "plan.json", "plan.png", "plan.toml"} {
		assert.True(t, whole[name] == joined[name], "%s differs", name)
	}
}

func TestShardFromTheEnvironment(t *testing.T) {
	slurm := func(id, first, last, step, count string) map[string]string {
		return map[string]string{slurmTask: id, "SLURM_ARRAY_TASK_MIN": first, "SLURM_ARRAY_TASK_MAX": last, "SLURM_ARRAY_TASK_STEP": step, "SLURM_ARRAY_TASK_COUNT": count}
	}
	with := func(env map[string]string, key, value string) map[string]string {
		env[key] = value
		return env
	}
	tests := []struct {
		flag string
		env  map[string]string
		want string
	}{
		{"", nil, "0/1"},
		{"2/5", slurm("3", "0", "6", "1", "7"), "2/5"},
		{"", slurm("3", "0", "6", "1", "7"), "3/7"},
		{"", slurm("10", "10", "30", "5", "5"), "0/5"},
		{"", slurm("25", "10", "30", "5", "5"), "3/5"},
		{"", slurm("12", "10", "30", "5", "5"), "error"}, // not a task of the range
		{"", slurm("5", "0", "5", "1", "3"), "error"},    // a list: 0,2,5
		{"", slurm("x", "0", "5", "1", "6"), "error"},
		{"", with(slurm("3", "3", "3", "1", "1"), shardCount, "7"), "3/7"}, // one task again
		{"", map[string]string{kubeIndex: "2", shardCount: "4"}, "2/4"},
		{"", map[string]string{kubeIndex: "2"}, "error"},
		{"", map[string]string{kubeIndex: "4", shardCount: "4"}, "error"},
		{"1", nil, "error"},
		{"-1/2", nil, "error"},
		{"0/0", nil, "error"},
		{"1/2/3", nil, "error"},
	}
	for _, tt := range tests {
		s, _, err := findShard(tt.flag, func(name string) string { return tt.env[name] })
		if tt.want == "error" {
			assert.Error(t, err, "%q %v", tt.flag, tt.env)
			continue
		}
		require.NoError(t, err, "%q %v", tt.flag, tt.env)
		assert.Equal(t, tt.want, s.String(), "%q %v", tt.flag, tt.env)
	}
}

func TestSweepTakesItsShardFromTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(kubeIndex, "1")
	t.Setenv(shardCount, "2")
	r := trainsim(append(small(dir, "--no-plots"), "--quiet=false")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stderr, "shard 1/2, from JOB_COMPLETION_INDEX")
	assert.Contains(t, listDir(t, filepath.Join(dir, "shard-1-of-2")), "sweep.csv")
}
