package measured

import (
	"context"
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/account"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// runsTable is testdata/runs.csv: published runs, each row with its source.
func runsTable(t testing.TB) string {
	text, err := os.ReadFile("testdata/runs.csv")
	require.NoError(t, err)
	return string(text)
}

func runsByID(t testing.TB, table string) map[string]trainingRun {
	runs, err := readRuns([]byte(table), "runs.csv")
	require.NoError(t, err)
	out := map[string]trainingRun{}
	for _, r := range runs {
		out[r.ID] = r
	}
	return out
}

func TestPublishedRunsBecomeJobs(t *testing.T) {
	runs := runsByID(t, runsTable(t))
	require.Len(t, runs, 14)
	for id, r := range runs {
		assert.Empty(t, r.Skipped, id)
		require.NotNil(t, r.Config, id)
	}

	gpt := runs["korthikanti-0001"]
	assert.Equal(t, "korthikanti", gpt.Family)
	assert.Equal(t, "A", gpt.Quality)
	assert.Equal(t, 1.1, gpt.Seconds)
	assert.Equal(t, int64(48), gpt.Config.Model.Layers)
	assert.Equal(t, model.Learned, gpt.Config.Model.Position)
	assert.True(t, gpt.Config.Parallel.SequenceParallel)
	assert.Equal(t, "selective", gpt.Config.Training.Recompute)
	assert.Equal(t, "megatron-lm", gpt.Config.Framework.Name)

	llama := runs["b200-0001"].Config
	assert.Equal(t, model.Rotary, llama.Model.Position)
	assert.False(t, llama.Model.LinearBias)
	assert.Equal(t, int64(8), llama.Model.KVHeads)
	assert.Equal(t, "b200-sxm-180gb", llama.GPU.Name)

	fsdp := runs["mpt-0212"].Config
	assert.Equal(t, "composer-fsdp", fsdp.Framework.Name)
	assert.Equal(t, 16, fsdp.Parallel.FSDPGroup)
	assert.Equal(t, 2, fsdp.Cluster.Nodes)
}

func TestRunsWithSchedules(t *testing.T) {
	runs := runsByID(t, runsTable(t))
	plain := runs["zb-0007"].Config.Schedule
	assert.Equal(t, "1f1b", plain.Kind)
	assert.True(t, plain.BlockingP2P)
	assert.Equal(t, "one-fewer-each", plain.FirstLastLayers)

	zb := runs["zb-0003"].Config.Schedule
	assert.Equal(t, "zb-auto", zb.Kind)
	assert.Equal(t, 8, zb.MemoryCap)
	assert.False(t, zb.BlockingP2P)

	// One layer a chunk, and none where the embedding and the head are.
	inter := runs["zb-0021"].Config.Schedule
	assert.Equal(t, 4, inter.VirtualStages)
	require.Len(t, inter.LayersPerStage, 32)
	assert.Equal(t, []int{0, 1}, inter.LayersPerStage[:2])
	assert.Zero(t, inter.LayersPerStage[31])

	balanced := runs["bloom-0144"].Config.Schedule
	assert.Equal(t, "embedding-balanced", balanced.FirstLastLayers)
}

func TestRunsOutOfMemory(t *testing.T) {
	r := runsByID(t, runsTable(t))["bloom-0098"]
	assert.True(t, r.OOM)
	assert.Zero(t, r.Seconds)
	assert.Empty(t, r.Skipped)
}

// A run of FSDP with 53,248 tokens a micro-batch fits because its loss works on
// 16-bit logits: with fp32 copies it would not.
func TestFlashLossFits(t *testing.T) {
	cfg := *runsByID(t, runsTable(t))["mpt-0212"].Config
	outcome := func() *account.OOM {
		j, err := job.Build(context.Background(), &cfg, account.Peaks)
		require.NoError(t, err)
		accounts, err := account.Replay(context.Background(), j, false)
		require.NoError(t, err)
		return accounts[0].OOM
	}
	assert.Equal(t, model.FlashLoss, cfg.Framework.CrossEntropy)
	assert.Nil(t, outcome())
	cfg.Training.CrossEntropy, cfg.Training.LossMetrics = "unfused", 0
	assert.NotNil(t, outcome())
}

// A rate and a time of the same row agree: 4 forwards of the layers and 3 of
// the head where recomputation counts, 3 of everything where it does not.
func TestRatesBecomeTimes(t *testing.T) {
	table := runsTable(t)
	for _, id := range []string{"bloom-0046", "bloom-0144", "dgxc-0005", "mpt-0212"} {
		whole := runsByID(t, table)[id]
		rateOnly := runsByID(t, edit(t, table, func(row map[string]string) { row["iter_time_s"] = "" }))[id]
		assert.InEpsilon(t, whole.Seconds, rateOnly.Seconds, 0.01, id)
	}
}

// Free text decides nothing: rows that differ in it alone have equal jobs.
func TestNamesDecideNothing(t *testing.T) {
	table := runsTable(t)
	before, err := readRuns([]byte(table), "runs.csv")
	require.NoError(t, err)
	renamed := edit(t, table, func(row map[string]string) {
		row["id"] = "x-" + row["id"][len(row["id"])-4:]
		row["source"], row["model"], row["notes"] = "somewhere", "a model", "none"
	})
	after, err := readRuns([]byte(renamed), "other.csv")
	require.NoError(t, err)
	require.Len(t, after, len(before))
	for i := range before {
		assert.Equal(t, before[i].Config, after[i].Config, before[i].ID)
		assert.Equal(t, before[i].Seconds, after[i].Seconds, before[i].ID)
		assert.Equal(t, "x", after[i].Family)
	}
}

// edit changes every row of a table.
func edit(t testing.TB, table string, change func(row map[string]string)) string {
	records, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	require.NoError(t, err)
	var b strings.Builder
	w := csv.NewWriter(&b)
	require.NoError(t, w.Write(records[0]))
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		change(row)
		for i, name := range records[0] {
			record[i] = row[name]
		}
		require.NoError(t, w.Write(record))
	}
	w.Flush()
	return b.String()
}

func TestRowsThatCannotRunAreSkipped(t *testing.T) {
	tests := []struct{ column, value, want string }{
		{"hidden", "many", `hidden: "many" is not a count; write a whole number from 1 to 134217728`},
		{"layers", "0", `layers: "0" is not a count`},
		{"cluster", "dgx-h10",
			`cluster: cluster.preset: there is no cluster preset "dgx-h10"; did you mean "dgx-h100"?`},
		{"gpus", "12", `does not divide the 12 GPUs`},
		{"gpus", "17", `gpus: 17 GPUs do not spread evenly over 3 nodes of 8`},
		{"heads", "7", `is not divisible by 7 heads`},
		{"schedule", "1f2b", `schedule: unknown schedule "1f2b"`},
		{"schedule", "none", `schedule: "none" with pp = 8; write the pipeline schedule`},
		{"recompute", "ful", `recompute: "ful" is not known here; did you mean "full"?`},
		{"precision", "", `precision: "" is not known here`},
		{"zero", "9", `zero: "9" is not known here`},
		{"iter_time_s", "-1", `iter_time_s: "-1" is not a measurement`},
		{"ep", "8", `parallel.ep: 8 needs a model with experts`},
		{"pp", "64", `64`},
	}
	for _, test := range tests {
		t.Run(test.column+"="+test.value, func(t *testing.T) {
			table := edit(t, runsTable(t), func(row map[string]string) {
				if row["id"] == "zb-0007" {
					row[test.column] = test.value
				}
			})
			r := runsByID(t, table)["zb-0007"]
			assert.Nil(t, r.Config)
			assert.Contains(t, r.Skipped, test.want)
			assert.Regexp(t, `^runs\.csv:14:\d+: `, r.Skipped)
		})
	}
}

func TestBrokenTablesOfRuns(t *testing.T) {
	table := runsTable(t)
	header, _, _ := strings.Cut(table, "\n")
	tests := []struct{ name, table, want string }{
		{"empty", "", "runs.csv: is empty; write a header line"},
		{"misspelt", strings.Replace(table, "hidden,", "hiden,", 1),
			`runs.csv:1:24: hiden: is not a column of a table of runs; did you mean "hidden"?`},
		{"missing", strings.Replace(table, ",heads,", ",notes2,", 1),
			"heads: is missing; write a column heads (query heads)"},
		{"twice", strings.Replace(table, "vocab,", "seq,", 1), "seq: is a column twice"},
		{"quotes", header + "\n\"a", `runs.csv:2:3: is not CSV: extraneous or missing " in quoted-field`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := readRuns([]byte(test.table), "runs.csv")
			var all *input.Errors
			require.ErrorAs(t, err, &all)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func FuzzReadRuns(f *testing.F) {
	table := runsTable(f)
	lines := strings.SplitAfter(table, "\n")
	f.Add(table)
	for _, l := range lines[1:] {
		f.Add(lines[0] + l)
	}
	f.Add(lines[0] + strings.Repeat(",", 43))
	f.Add("id\n1")
	f.Fuzz(func(t *testing.T, table string) {
		runs, err := readRuns([]byte(table), "fuzz.csv")
		if err != nil {
			return
		}
		for i := range runs {
			if (runs[i].Config == nil) != (runs[i].Skipped != "") {
				t.Fatalf("row %d: a job and a reason, or neither: %q", i, runs[i].Skipped)
			}
			if runs[i].Seconds < 0 || runs[i].MemoryBytes < 0 {
				t.Fatalf("row %d: a negative measurement", i)
			}
		}
	})
}
