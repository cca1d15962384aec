package scenarios

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/step"
)

// rankMemory is a line of testdata/b200_rank_memory.csv: what
// torch.cuda.max_memory_allocated and max_memory_reserved gave on one rank of
// Megatron-Core jobs on 8 B200 (SimuMax's published runs, docs/b200, release
// 1.2), in MiB. Its models are cut to 12 and 4 layers.
type rankMemory struct {
	job                 string
	stage               int
	allocated, reserved float64
}

// widths of the models in that file.
var widths = map[string]string{
	"llama3-70b":  "12,8192,64,8,28672",
	"llama3-405b": "4,16384,128,16,53248",
}

// runOf writes a measured line as a row of a table of runs.
func runOf(f map[string]string) string {
	sp, schedule := "0", "1f1b"
	if f["tp"] != "1" {
		sp = "1"
	}
	if f["pp"] == "1" {
		schedule = "none"
	}
	return strings.Join([]string{"job", widths[f["model"]], "swiglu,rmsnorm,128256,0", f["seq"], "hgx-b200,8", f["tp"], f["pp"], f["dp"], f["cp"],
		sp, "1,4", schedule, "1,bf16,fp32,flash"}, ",") + "\n"
}

const runHead = "id,layers,hidden,heads,kv_heads,ffn,mlp,norm,vocab,tie_embeddings,seq,cluster,gpus,tp,pp,dp,cp,sequence_parallel,microbatch_size,microbatches,schedule,zero,precision,grad_precision,attention\n"

// readRankMemory returns the lines of models without experts, and each job's
// Config.
func readRankMemory(t *testing.T) ([]rankMemory, map[string]*step.Config) {
	file, err := os.Open("testdata/b200_rank_memory.csv")
	require.NoError(t, err)
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	var out []rankMemory
	jobs := map[string]*step.Config{}
	for _, record := range records[1:] {
		f := map[string]string{}
		for i, name := range records[0] {
			f[name] = record[i]
		}
		if f["ep"] != "1" {
			continue
		}
		m := rankMemory{job: runOf(f)}
		m.stage, _ = strconv.Atoi(f["pp_stage"])
		m.allocated, _ = strconv.ParseFloat(f["max_allocated_mb"], 64)
		m.reserved, _ = strconv.ParseFloat(f["max_reserved_mb"], 64)
		out = append(out, m)
		if jobs[m.job] == nil {
			runs, err := ReadRuns(strings.NewReader(runHead+m.job), "b200")
			require.NoError(t, err)
			require.Empty(t, runs[0].Skipped)
			jobs[m.job] = runs[0].Config
		}
	}
	return out, jobs
}

// errorsOf collects relative errors.
type errorsOf struct{ sum, worst, n float64 }

func (e *errorsOf) add(predicted, measured float64) {
	x := math.Abs(predicted/measured - 1)
	e.sum, e.worst, e.n = e.sum+x, max(e.worst, x), e.n+1
}

func (e *errorsOf) mean() float64 { return e.sum / e.n }

func TestMemoryOfEveryRankOnB200(t *testing.T) {
	rows, jobs := readRankMemory(t)
	require.Len(t, rows, 75)
	accounts := map[string][]step.RankMemory{}
	for name, cfg := range jobs {
		job, err := step.Build(cfg)
		require.NoError(t, err)
		accounts[name], err = job.Account()
		require.NoError(t, err)
	}
	var allocated, reserved errorsOf
	for _, r := range rows {
		m := &accounts[r.job][r.stage]
		a, v := float64(m.PeakAllocated)/(1<<20), float64(m.PeakReserved)/(1<<20)
		allocated.add(a, r.allocated)
		reserved.add(v, r.reserved)
	}
	assert.Less(t, allocated.mean(), 0.002)
	assert.Less(t, allocated.worst, 0.01)
	assert.Less(t, reserved.mean(), 0.02)
	assert.Less(t, reserved.worst, 0.05)
	t.Logf("allocated mean %.2f %% worst %.2f %%, reserved mean %.2f %% worst %.2f %%", 100*allocated.mean(), 100*allocated.worst, 100*reserved.mean(), 100*reserved.worst)
}
