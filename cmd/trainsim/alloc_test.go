package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory/snapshot"
)

// snapshots are the recorded traces of package memory.
var snapshots = func() string {
	dir, err := filepath.Abs("../../memory/snapshot/testdata/snapshots")
	if err != nil {
		panic(err)
	}
	return dir
}()

func TestAllocReplayPrintsBeforeAndAfter(t *testing.T) {
	r := trainsim("alloc", "replay", filepath.Join(snapshots, "python-protocol4.pickle"), "--conf", "expandable_segments:True")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Empty(t, r.stderr)
	for _, want := range []string{
		"device 0: 22 entries, 9 allocations, 0 bytes allocated at the start, capacity 122.00 MiB",
		"peak allocated                53.00 MiB  52.00 MiB",
		"as recorded: PyTorch's defaults\n",
		"conf 1: expandable_segments:True\n",
		"entry 21: CUDA out of memory. Tried to allocate 512.00 MiB.",
		"reserves the same after every allocation.",
	} {
		assert.Contains(t, r.stdout, want)
	}
}

// More capacity than the trace had avoids what failed in it.
func TestAllocReplayCapacity(t *testing.T) {
	r := trainsim("alloc", "replay", filepath.Join(snapshots, "python.json"), "--capacity", "2GiB")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stdout, "1 allocation that failed in the recording fits")
	assert.NotContains(t, r.stdout, "CUDA out of memory")
}

func TestAllocReplayJSON(t *testing.T) {
	r := trainsim("alloc", "replay", "--json", filepath.Join(snapshots, "python.json"), "--conf", "max_split_size_mb:20")
	require.Equal(t, exitOK, r.code, r.stderr)
	var doc snapshot.Report
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&doc))
	require.Equal(t, "trainsim.alloc/v1", doc.Schema)
	require.Len(t, doc.Recordings, 1)
	require.Len(t, doc.Recordings[0].Replays, 2)
	run := doc.Recordings[0].Replays[0]
	assert.True(t, run.Recorded)
	assert.EqualValues(t, 62<<20, run.PeakReserved)
	assert.EqualValues(t, 62<<20, doc.Recordings[0].Recorded.PeakReserved)
	require.Len(t, run.FirstOOMs, 1)
	assert.EqualValues(t, 512<<20, run.FirstOOMs[0].Requested)
	assert.Equal(t, 1.0, *run.SameReserved)
}

func TestAllocReplayReadsStdin(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(snapshots, "python-protocol5.pickle"))
	require.NoError(t, err)
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{"alloc", "replay", "-"}, bytes.NewReader(raw), &out, &errs)
	require.Equal(t, exitOK, code, errs.String())
	assert.Contains(t, out.String(), "device 0: 22 entries")
}

// Many records share one table, and settings apply to each of them.
func TestAllocReplayVectors(t *testing.T) {
	r := trainsim("alloc", "replay", filepath.Join(snapshots, "../../../testdata/vectors/reference.json"), "--conf", "expandable_segments:True")
	require.Equal(t, exitOK, r.code, r.stderr)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	assert.Len(t, lines, 199)
	assert.Regexp(t, `^13MiB_not_split +1 +14\.00 MiB -> 13\.00 MiB +14\.00 MiB -> 20\.00 MiB `, lines[7])
}

// The written replay is a snapshot again.
func TestAllocReplaySnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.pickle")
	r := trainsim("alloc", "replay", filepath.Join(snapshots, "python.json"), "--conf", "expandable_segments:True", "--snapshot", path)
	require.Equal(t, exitOK, r.code, r.stderr)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	list, err := snapshot.ReadRecordings(f)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.True(t, list[0].Conf.Expandable)
	assert.Equal(t, "expandable_segments:True", list[0].Conf.String())
}

func TestAllocReplayErrors(t *testing.T) {
	python := filepath.Join(snapshots, "python.json")
	bad := filepath.Join(t.TempDir(), "empty.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"segments":[],"device_traces":[[]]}`), 0o666))
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "no command given", nil},
		{exitUsage, "accepts 1 arg", []string{"replay"}},
		{exitUsage, `unknown setting "foo"`, []string{"replay", python, "--conf", "foo:1"}},
		{exitUsage, "write something like 39GiB", []string{"replay", python, "--capacity", "39"}},
		{exitUsage, "write a number above 0 up to 1", []string{"replay", python, "--fraction", "2"}},
		{exitUsage, "has no trace of it", []string{"replay", python, "--device", "7"}},
		{exitInput, "no such file", []string{"replay", filepath.Join(snapshots, "none.pickle")}},
		{exitInput, "is a directory", []string{"replay", snapshots}},
		{exitInput, "would run Python code", []string{"replay", filepath.Join(snapshots, "evil-reduce.pickle")}},
		{exitInput, "the snapshot is empty", []string{"replay", bad}},
	} {
		r := trainsim(append([]string{"alloc"}, c.args...)...)
		assert.Equal(t, c.code, r.code, c.args)
		assert.Contains(t, r.stderr, c.want)
		assert.Empty(t, r.stdout, c.args)
	}
}
