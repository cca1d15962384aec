package main

import (
	"context"
	"encoding/json"
	"fmt"
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

func TestValidateRuns(t *testing.T) {
	s := scoreOf(t, smallRuns(t, false))
	require.Len(t, s.Rows, 10)
	for _, r := range s.Rows {
		require.NotNil(t, r.TimeError, r.ID)
		assert.Empty(t, r.Skipped, r.ID)
		assert.Less(t, *r.TimeError, 0.6, r.ID)
		assert.Greater(t, *r.TimeError, -0.6, r.ID)
	}
	assert.Equal(t, "korthikanti", s.Families[0].Family)
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

const kernelsTable = `gpu_type,dtype,m,n,k,time_us
A100-SXM4-80GB,bf16,4096,12288,12288,4457
MI210,bf16,4096,12288,12288,10449
`

const collectivesTable = `gpu_type,gpus,nodes,collective,size_bytes,time_us
A100-SXM4-80GB,8,1,all_reduce,1073741824,8241.5
`

func write(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func TestValidateKernelsAndCollectives(t *testing.T) {
	s := scoreOf(t, write(t, "gemm.csv", kernelsTable), write(t, "nccl.csv", collectivesTable))
	require.Len(t, s.Rows, 3)
	assert.Equal(t, "gemm.csv:2", s.Rows[0].ID)
	assert.Equal(t, "A100-SXM4-80GB gemm TN", s.Rows[0].Family)
	assert.InDelta(t, 0, *s.Rows[0].TimeError, 0.1)
	assert.Contains(t, s.Rows[1].Skipped, `no gpu preset for "MI210"`)
	assert.Equal(t, -1.0, *s.Rows[1].TimeError)
	assert.InDelta(t, 0, *s.Rows[2].TimeError, 0.15)

	own := scoreOf(t, "--gpu", "a100-pcie-80gb", write(t, "gemm.csv", kernelsTable))
	assert.Empty(t, own.Rows[1].Skipped)
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
		"llama3-70b,12,4096,4,1,2,4,0,68149.2,70730.0\nllama3-70b,12,4096,4,1,2,4,4,64479.5,65762.0\nno-such-model,12,4096,4,1,2,4,4,64479.5,\n"
	path, figure := write(t, "ranks.csv", table), filepath.Join(t.TempDir(), "v.svg")
	s := scoreOf(t, path, "--plot", figure)
	require.Len(t, s.Rows, 6)
	assert.FileExists(t, figure)
	assert.Equal(t, "ranks.csv:2 allocated", s.Rows[0].ID)
	for i := range 4 {
		assert.InDelta(t, 0, *s.Rows[i].MemoryError, 0.01+0.02*float64(i%2), s.Rows[i].ID)
		assert.Nil(t, s.Rows[i].TimeError)
	}
	assert.Contains(t, s.Rows[4].Skipped, `there is no model preset "no-such-model"`)
	assert.Equal(t, []string{"llama3-70b allocated", "llama3-70b reserved"}, []string{s.Families[0].Family, s.Families[1].Family})
	assert.Equal(t, 2, s.Families[0].MemoryN)
	text := trainsim("validate", path).stdout
	assert.Contains(t, text, "memory n")
	assert.NotContains(t, text, "median  ", "no columns of times")
}

// Memory as unfused attention with dropout needs it, written beside other columns,
// puts these in doubt, and beside its own it does not.
func TestValidateDoubtsColumnsThatMemoryContradicts(t *testing.T) {
	table := func(columns string, gib [3]float64) string {
		var b strings.Builder
		b.WriteString("id,layers,hidden,heads,ffn,mlp,norm,vocab,seq,cluster,gpus,tp,pp,dp,microbatch_size,microbatches,schedule,precision,attention,dropout,peak_mem_gib\n")
		for i, size := range gib {
			fmt.Fprintf(&b, "wide-%d,8,2048,16,8192,gelu,layernorm,50304,1024,zb-a100-80gb,4,1,4,1,%d,8,1f1b,bf16,%s,%.4f\n", i, 1<<i, columns, size)
		}
		path := filepath.Join(t.TempDir(), "runs.csv")
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o666))
		return path
	}
	var gib [3]float64
	for i, r := range scoreOf(t, table("unfused,1", [3]float64{1, 1, 1})).Rows {
		require.Empty(t, r.Skipped)
		gib[i] = float64(*r.PredictedBytes) / (1 << 30)
	}
	assert.Empty(t, scoreOf(t, table("unfused,1", gib)).Doubts)
	doubts := scoreOf(t, table("flash,0", gib)).Doubts
	require.Len(t, doubts, 1)
	assert.Contains(t, doubts[0], "wide: measured memory is")
	assert.Contains(t, doubts[0], "0.0 % with attention = unfused, dropout = 1;")
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

func TestParallelCallsStopAtTheFirstFailure(t *testing.T) {
	err := inParallel(context.Background(), 4, 100, func(i int) error {
		if i == 3 {
			panic("broken")
		}
		return nil
	})
	assert.ErrorContains(t, err, "internal error: broken")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, inParallel(ctx, 0, 10, func(int) error { return nil }), context.Canceled)
	done := make([]bool, 50)
	require.NoError(t, inParallel(context.Background(), 3, 50, func(i int) error { done[i] = true; return nil }))
	assert.NotContains(t, done, false)
}
