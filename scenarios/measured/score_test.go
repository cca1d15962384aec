package measured

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
)

// scoreOf predicts and scores a table.
func scoreOf(t testing.TB, table, name string, o Options) *report.Score {
	rows, err := Read([]byte(table), name, o)
	require.NoError(t, err)
	require.NoError(t, Predict(context.Background(), rows, atOnce))
	score, err := NewScore(context.Background(), rows, nil)
	require.NoError(t, err)
	return score
}

// atOnce makes all calls at the same time.
func atOnce(_ context.Context, n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// smallRuns are the published runs that simulate in a moment.
func smallRuns(t testing.TB) string {
	var b strings.Builder
	for line := range strings.Lines(runsTable(t)) {
		if !strings.HasPrefix(line, "bloom") && !strings.HasPrefix(line, "narayanan") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestRunsAreScored(t *testing.T) {
	s := scoreOf(t, smallRuns(t), "runs.csv", Options{})
	require.Len(t, s.Rows, 10)
	// No row is further off than twice what its family is in README.md.
	off := map[string]float64{"vtrain": 0.16, "zb": 0.15, "a100pcie": 0.07, "dgxc": 0.05, "mpt": 0.09, "b200": 0.034}
	for _, r := range s.Rows {
		require.NotNil(t, r.TimeError, r.ID)
		assert.Empty(t, r.Skipped, r.ID)
		assert.InDelta(t, *r.Predicted / *r.Measured - 1, *r.TimeError, 1e-12, r.ID)
		assert.InDelta(t, 0, *r.TimeError, max(off[r.Family], 0.018), r.ID)
	}
	assert.Equal(t, "korthikanti", s.Families[0].Family)
}

const kernelsTable = `gpu_type,dtype,m,n,k,time_us
A100-SXM4-80GB,bf16,4096,12288,12288,4457
MI210,bf16,4096,12288,12288,10449
`

func TestKernelsAndCollectivesAreScored(t *testing.T) {
	s := scoreOf(t, kernelsTable, "dir/gemm.csv", Options{})
	require.Len(t, s.Rows, 2)
	assert.Equal(t, "gemm.csv:2", s.Rows[0].ID)
	assert.Equal(t, "A100-SXM4-80GB gemm TN", s.Rows[0].Family)
	assert.InDelta(t, 0, *s.Rows[0].TimeError, 0.03)
	assert.Contains(t, s.Rows[1].Skipped, `no gpu preset for "MI210"`)
	assert.Equal(t, -1.0, *s.Rows[1].TimeError)

	own := scoreOf(t, kernelsTable, "gemm.csv", Options{GPU: "a100-pcie-80gb"})
	assert.Empty(t, own.Rows[1].Skipped)
	_, err := Read([]byte(kernelsTable), "gemm.csv", Options{GPU: "no-such-gpu"})
	assert.ErrorContains(t, err, "no-such-gpu")

	collectives := scoreOf(t,
		"gpu_type,gpus,nodes,collective,size_bytes,time_us\nA100-SXM4-80GB,8,1,all_reduce,1073741824,8241.5\n", "nccl.csv", Options{})
	assert.InDelta(t, 0, *collectives.Rows[0].TimeError, 0.01)
}

func TestRankMemoryIsScored(t *testing.T) {
	table := "model,layers,seq,microbatches,tp,pp,dp,rank,max_allocated_mb,max_reserved_mb\n" +
		"llama3-70b,12,4096,4,1,2,4,0,68149.2,70730.0\nllama3-70b,12,4096,4,1,2,4,4,64479.5,65762.0\nno-such-model,12,4096,4,1,2,4,4,64479.5,\n"
	s := scoreOf(t, table, "ranks.csv", Options{})
	require.Len(t, s.Rows, 6)
	assert.Equal(t, "ranks.csv:2 allocated", s.Rows[0].ID)
	for i := range 4 {
		assert.InDelta(t, 0, *s.Rows[i].MemoryError, 0.01+0.02*float64(i%2), s.Rows[i].ID)
		assert.Nil(t, s.Rows[i].TimeError)
	}
	assert.Contains(t, s.Rows[4].Skipped, `there is no model preset "no-such-model"`)
	assert.Equal(t, []string{"llama3-70b allocated", "llama3-70b reserved"},
		[]string{s.Families[0].Family, s.Families[1].Family})
	assert.Equal(t, 2, s.Families[0].MemoryN)
}

// What is no table of measurements is taken for one of runs, whose columns the
// error names; binary data is not.
func TestOtherFilesAreNoTables(t *testing.T) {
	_, err := Read([]byte("a,b\n1,2\n"), "other.csv", Options{})
	assert.ErrorContains(t, err, "other.csv:1:1: a: is not a column of a table of runs")
	for _, text := range []string{strings.Repeat("\x00", 1<<20), strings.Repeat("#", 1<<20), "id,\xff\xfe\n1,2\n",
		"id,\x1b[2J\n"} {
		_, err := Read([]byte(text), "binary.csv", Options{})
		require.ErrorContains(t, err, "binary.csv: is not a table")
		assert.Less(t, len(err.Error()), 1000, "the file itself is not printed")
	}
}

// A prediction that panics or fails costs its own row alone.
func TestFailedPredictionsAreSkipped(t *testing.T) {
	rows := []Row{
		timed("panics", "f", 1, "", func() (float64, error) { panic("lost") }),
		timed("is nothing", "f", 1, "", func() (float64, error) { return 0, nil }),
		timed("is right", "f", 1, "", func() (float64, error) { return 1, nil }),
	}
	require.NoError(t, Predict(context.Background(), rows, nil))
	assert.Equal(t, "internal error: lost", rows[0].Skipped)
	assert.Equal(t, "the prediction is not a positive time", rows[1].Skipped)
	assert.Equal(t, 1.0, *rows[2].Predicted)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	assert.ErrorIs(t, Predict(stopped, rows, nil), context.Canceled)
}

// Memory as unfused attention with dropout needs it, written beside other columns,
// puts these in doubt, and beside its own it does not.
func TestDoubtsAboutColumnsThatMemoryContradicts(t *testing.T) {
	score := func(columns string, gib [3]float64) *report.Score {
		var b strings.Builder
		b.WriteString("id,layers,hidden,heads,ffn,mlp,norm,vocab,seq,cluster,gpus,tp,pp,dp,microbatch_size,microbatches,schedule,precision,attention,dropout,peak_mem_gib\n")
		for i, size := range gib {
			fmt.Fprintf(&b,
				"wide-%d,8,2048,16,8192,gelu,layernorm,50304,1024,zb-a100-80gb,4,1,4,1,%d,8,1f1b,bf16,%s,%.4f\n", i, 1<<i, columns, size)
		}
		return scoreOf(t, b.String(), "runs.csv", Options{})
	}
	var gib [3]float64
	for i, r := range score("unfused,1", [3]float64{1, 1, 1}).Rows {
		require.Empty(t, r.Skipped)
		gib[i] = float64(*r.PredictedBytes) / (1 << 30)
	}
	assert.Empty(t, score("unfused,1", gib).Doubts)
	doubts := score("flash,0", gib).Doubts
	require.Len(t, doubts, 1)
	assert.Contains(t, doubts[0], "wide: measured memory is")
	assert.Contains(t, doubts[0], "0.0 % with attention = unfused, dropout = 1;")
}

func ExampleNewScore() {
	table := "gpu_type,gpus,collective,size_bytes,time_us\nH100-SXM,8,all_reduce,1073741824,4500\n"
	rows, err := Read([]byte(table), "nccl.csv", Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := Predict(ctx, rows, nil); err != nil {
		panic(err)
	}
	score, err := NewScore(ctx, rows, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s is %.0f %% off\n", score.Families[0].Family, 100*score.Families[0].MAPE)
	// Output: H100-SXM all_reduce is 10 % off
}
