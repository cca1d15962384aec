package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
)

// smallRuns is the published runs of package scenarios' testdata that simulate
// in a moment.
func smallRuns(t testing.TB, rename bool) string {
	text, err := os.ReadFile("../../scenarios/measured/testdata/runs.csv")
	require.NoError(t, err)
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "bloom") || strings.HasPrefix(line, "narayanan") {
			continue
		}
		if id, rest, _ := strings.Cut(line, ","); rename && id != "id" {
			line = "renamed-" + id[len(id)-4:] + "," + rest
		}
		b.WriteString(line)
	}
	path := filepath.Join(t.TempDir(), "runs.csv")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o666))
	return path
}

func scoreOf(t testing.TB, args ...string) report.Score {
	r := trainsim(append([]string{"validate", "--json"}, args...)...)
	require.Zero(t, r.code, r.stderr)
	var s report.Score
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &s))
	return s
}

// Ids decide nothing, and neither does how many rows run at a time.
func TestValidateIsBlindToNames(t *testing.T) {
	a, b := scoreOf(t, smallRuns(t, false), "--jobs", "1"), scoreOf(t, smallRuns(t, true), "--jobs", "3")
	require.Len(t, b.Rows, len(a.Rows))
	for i := range a.Rows {
		assert.Equal(t, a.Rows[i].Predicted, b.Rows[i].Predicted, a.Rows[i].ID)
		assert.Equal(t, a.Rows[i].PredictedBytes, b.Rows[i].PredictedBytes, a.Rows[i].ID)
	}
	require.Len(t, b.Families, 1)
}

const collectivesTable = `gpu_type,gpus,nodes,collective,size_bytes,time_us
A100-SXM4-80GB,8,1,all_reduce,1073741824,8241.5
`

func write(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func TestValidatePrintsAndDraws(t *testing.T) {
	figure := filepath.Join(t.TempDir(), "v.png")
	r := trainsim("validate", write(t, "nccl.csv", collectivesTable), "--plot", figure)
	require.Zero(t, r.code, r.stderr)
	assert.Contains(t, r.stdout, "nccl.csv:2")
	assert.Contains(t, r.stdout, "Errors by family")
	assert.NotContains(t, r.stdout, "outcome")
	assert.FileExists(t, figure)
}

func TestValidateRankMemory(t *testing.T) {
	table := "model,layers,seq,microbatches,tp,pp,dp,rank,max_allocated_mb,max_reserved_mb\n" +
		"llama3-70b,12,4096,4,1,2,4,0,68149.2,70730.0\n"
	path, figure := write(t, "ranks.csv", table), filepath.Join(t.TempDir(), "v.svg")
	text := trainsim("validate", path, "--plot", figure).stdout
	assert.FileExists(t, figure)
	assert.Contains(t, text, "memory n")
	assert.NotContains(t, text, "median  ", "no columns of times")
}

func TestValidateRefusesOtherFiles(t *testing.T) {
	other := write(t, "other.csv", "a,b\n1,2\n")
	r := trainsim("validate", other)
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, other+":1:1: a: is not a column of a table of runs")
	assert.Equal(t, exitInput, trainsim("validate", "no-such.csv").code)
	for _, text := range []string{strings.Repeat("\x00", 1<<20), strings.Repeat("#", 1<<20), "id,\xff\xfe\n1,2\n", "id,\x1b[2J\n"} {
		r = trainsim("validate", write(t, "binary.csv", text))
		assert.Equal(t, exitInput, r.code)
		assert.Less(t, len(r.stderr), 1000, "the file itself is not printed")
		assert.Contains(t, r.stderr, "is not a table")
	}
	assert.Equal(t, exitUsage, trainsim("validate", other, "--plot", "x.bmp").code)
	assert.Equal(t, exitUsage, trainsim("validate").code)
}

// Where no row can be predicted, the reasons are the error.
func TestValidateWithNothingToScore(t *testing.T) {
	head, row, _ := strings.Cut(collectivesTable, "\n")
	r := trainsim("validate", write(t, "empty.csv", head+"\n"))
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, "empty.csv: there is no row to score")

	figure := filepath.Join(t.TempDir(), "v.png")
	broken := head + "\n" + strings.ReplaceAll(row, "all_reduce", "all_amaze")
	require.NotEqual(t, collectivesTable, broken)
	for _, args := range [][]string{{}, {"--json"}, {"--plot", figure}} {
		r = trainsim(append([]string{"validate", write(t, "far.csv", broken)}, args...)...)
		assert.Equal(t, exitInput, r.code)
		assert.Contains(t, r.stderr, "there is nothing to score: all rows")
		assert.Contains(t, r.stderr, "far.csv:2:")
		assert.NotContains(t, r.stdout, "Errors by family")
		if len(args) == 1 {
			assert.True(t, json.Valid([]byte(r.stdout)), "the document is there")
		}
	}
	assert.NoFileExists(t, figure)
}
