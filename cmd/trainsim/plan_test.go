package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/bound"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
	"trainsim/sim/step"
)

// planSmall is a job of which every layout can be simulated in a test.
const planSmall = `
name = "small"
[model]
layers = 4
hidden = 1024
heads = 8
vocab = 8192
seq_len = 1024
[cluster]
preset = "dgx-h100"
nodes = 1
[parallel]
overlap_grad_reduce = true
[schedule]
microbatches = 1
microbatch_size = 1
[host]
framework = "cuda-graphs"
`

func smallSpace(t *testing.T, sets ...string) *scenarios.Space {
	base, err := scenarios.LoadReader(strings.NewReader(planSmall), "small.toml", sets)
	require.NoError(t, err)
	s := &scenarios.Space{Base: base, Nodes: []int{1}, Batch: 8, Kinds: []string{"1f1b", "interleaved", "zb-h1", "gpipe"}, MinMicrobatches: 1}
	_, err = s.Fix("schedule.microbatch_size", "1")
	require.NoError(t, err)
	return s
}

var (
	allOnce sync.Once
	allRows []report.SweepRow
)

// simulateAll simulates every layout of the small space as `run` would, once.
func simulateAll(t *testing.T, space *scenarios.Space) []report.SweepRow {
	allOnce.Do(func() { allRows = simulateLayouts(t, space, space.Layouts()) })
	return allRows
}

func simulateLayouts(t *testing.T, space *scenarios.Space, layouts []scenarios.Layout) []report.SweepRow {
	rows := make([]report.SweepRow, len(layouts))
	err := inParallel(context.Background(), 0, len(rows), func(i int) error {
		cfg := layouts[i].Apply(space.Base)
		p := &scenarioPoint{cfg: cfg, row: report.SweepRow{Point: i, ID: scenarios.Identity(cfg, version)}}
		for k, v := range layouts[i].Values() {
			p.row.Settings = append(p.row.Settings, report.Setting{Key: scenarios.PlanKeys()[k], Value: v})
		}
		err := simulatePoint(context.Background(), p, step.Options{NoRecording: true})
		rows[i] = p.row
		return err
	})
	require.NoError(t, err)
	return rows
}

// No simulation beats a bound, of the bounder or of the built job, in time or in
// memory: on other machines, under other frameworks and settings too. This is
// what allows a planner to leave layouts out.
func TestBoundsAreBounds(t *testing.T) {
	space := smallSpace(t)
	near := checkBounds(t, space, space.Layouts(), simulateAll(t, space))
	assert.Greater(t, near, len(space.Layouts())/2, "a bound that is far off bounds nothing")
	for i, sets := range [][]string{
		{"host.framework=eager", "training.optimizer=sgd-momentum"},
		{"host.framework=megatron", "cluster.preset=a100-pcie-8x"},
		{"host.framework=deepspeed", "training.grad_precision=bf16"},
		{"host.framework=eager", "cluster.preset=rtx4090-8x", "parallel.overlap_grad_reduce=false", "schedule.first_last_layers=auto"},
		{"host.framework=megatron", "parallel.overlap_param_gather=true", "model.mlp=swiglu", "model.ffn=4096", "training.dropout=true"},
		{"host.framework=eager", "training.precision=fp32", "cluster.preset=dgx1-v100", "model.attention=unfused"},
		{"host.framework=megatron", "model.experts=8", "model.experts_per_token=2", "model.linear_bias=false", "model.dense_layers=1", "model.mlp=swiglu", "model.ffn=2048"},
		{"host.framework=eager", "model.experts=16", "model.experts_per_token=4", "model.linear_bias=false", "model.qkv_bias=false", "model.norm=rmsnorm", "model.position=rope", "model.kv_lora_rank=128", "model.rope_head_dim=32", "model.expert_capacity=1.25"},
	} {
		space := smallSpace(t, sets...)
		var some []scenarios.Layout
		for k, l := range space.Layouts() {
			if k%13 == i {
				some = append(some, l)
			}
		}
		checkBounds(t, space, some, simulateLayouts(t, space, some))
	}
}

// checkBounds returns how many bounds of the step time are close.
func checkBounds(t *testing.T, space *scenarios.Space, layouts []scenarios.Layout, rows []report.SweepRow) (near int) {
	bounder, err := bound.NewBounder(space.Base)
	require.NoError(t, err)
	simulated := 0
	for i, l := range layouts {
		cfg := l.Apply(space.Base)
		quick, err := bounder.Bound(cfg)
		require.NoError(t, err)
		label := report.LayoutLabel(rows[i].Settings)
		if rows[i].Metrics == nil {
			assert.Equal(t, report.OutcomeInvalid, rows[i].Outcome, "%s: %s", label, rows[i].Reason)
			continue
		}
		simulated++
		j, err := job.Build(cfg, account.Peaks)
		require.NoError(t, err)
		close, err := bound.Of(j)
		require.NoError(t, err)
		assert.LessOrEqual(t, quick.Time.Seconds(), rows[i].StepTime, label)
		assert.LessOrEqual(t, close.Time.Seconds(), rows[i].StepTime, label)
		assert.LessOrEqual(t, quick.Memory, rows[i].PeakMemory, label)
		assert.LessOrEqual(t, close.Memory, rows[i].PeakMemory, label)
		if close.Time.Seconds() > 0.8*rows[i].StepTime {
			near++
		}
	}
	assert.Greater(t, simulated, len(layouts)/3)
	return near
}

// The search finds what simulating everything finds: the same fastest layouts
// and the same front, also where memory is short, in one process or in three
// shards, and with every rank simulated.
func TestPlanIsExhaustiveSearch(t *testing.T) {
	space := smallSpace(t)
	rows := simulateAll(t, space)
	plan := func(limit int64) string {
		all := report.NewPlanSearch(10)
		for _, r := range rows {
			if r.Runs() && r.PeakMemory <= limit {
				all.Add(r)
			}
		}
		return planText(t, all)
	}
	peaks := report.NewPlanSearch(1)
	for _, r := range rows {
		peaks.Add(r)
	}
	short := peaks.Plan("", "", 0, nil).Sizes[0].Best[0].PeakMemory - 1 // the fastest does not fit
	for _, limit := range []int64{int64(space.Base.GPU.Memory), short} {
		found := report.NewPlanSearch(10)
		counts := searched(t, space, limit, whole, found)
		assert.Equal(t, plan(limit), planText(t, found))
		assert.Less(t, counts.simulated, len(rows)/2, "most layouts are left out")
		union := report.NewPlanSearch(10)
		for i := range 3 {
			searched(t, space, limit, shard{i, 3}, union)
		}
		assert.Equal(t, plan(limit), planText(t, union))
	}
}

// searched runs a search of a shard and adds every row that it keeps to a
// search of the test's own.
func searched(t *testing.T, space *scenarios.Space, limit int64, part shard, found *report.PlanSearch) planCounts {
	var mu sync.Mutex
	p := &planner{base: space.Base, layouts: space.Layouts(), limit: limit, search: report.NewPlanSearch(10),
		options: step.Options{NoRecording: true, Fold: true},
		known:   func(int, string) (report.SweepRow, bool) { return report.SweepRow{}, false },
		keep: func(r *report.SweepRow) error {
			mu.Lock()
			defer mu.Unlock()
			found.Add(*r)
			return nil
		}}
	require.NoError(t, p.bound(context.Background(), part))
	require.NoError(t, p.run(context.Background(), func(int) {}))
	n := &p.counts
	assert.Equal(t, part.count(len(p.layouts)), n.layouts)
	assert.Equal(t, n.layouts, n.tooLarge+n.tooSlow+n.impossible+n.outOfMemory+n.simulated)
	return *n
}

func planText(t *testing.T, s *report.PlanSearch) string {
	var b strings.Builder
	p := s.Plan("1", "small", 8, scenarios.PlanKeys())
	require.NoError(t, text.Plan(&b, p))
	require.NoError(t, p.WriteCSV(&b))
	return b.String()
}

// plan runs the command on the small job.
func plan(t *testing.T, dir string, args ...string) result {
	file := filepath.Join(dir, "small.toml")
	require.NoError(t, os.WriteFile(file, []byte(planSmall), 0o666))
	return trainsim(append([]string{"plan", file, "-q", "--global-batch", "8", "-o", filepath.Join(dir, "out")}, args...)...)
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
