package search

import (
	"context"
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

func smallSpace(t *testing.T, sets ...string) *Space {
	base, err := scenarios.LoadWith("testdata/small.toml", sets)
	require.NoError(t, err)
	s := NewSpace(base)
	s.Batch, s.Kinds = 8, []string{"1f1b", "interleaved", "zb-h1", "gpipe"}
	_, err = s.Fix("schedule.microbatch_size", "1")
	require.NoError(t, err)
	return s
}

var (
	allOnce sync.Once
	allRows []report.SweepRow
)

// simulateAll simulates every layout of the small space as `run` would, once.
func simulateAll(t *testing.T, space *Space) []report.SweepRow {
	allOnce.Do(func() { allRows = simulateLayouts(t, space, space.Layouts()) })
	return allRows
}

func simulateLayouts(t *testing.T, space *Space, layouts []Layout) []report.SweepRow {
	rows := make([]report.SweepRow, len(layouts))
	err := InParallel(context.Background(), 0, len(rows), func(i int) error {
		cfg := layouts[i].Apply(space.Base)
		p := &Point{Config: cfg, Row: report.SweepRow{Point: i, ID: Identity(cfg), Settings: layouts[i].settings()}}
		err := p.simulate(context.Background(), step.Options{NoRecording: true})
		rows[i] = p.Row
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
		var some []Layout
		for k, l := range space.Layouts() {
			if k%13 == i {
				some = append(some, l)
			}
		}
		checkBounds(t, space, some, simulateLayouts(t, space, some))
	}
}

// checkBounds returns how many bounds of the step time are close.
func checkBounds(t *testing.T, space *Space, layouts []Layout, rows []report.SweepRow) (near int) {
	bounder := bound.NewBounder(space.Base)
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
		j, err := job.Build(context.Background(), cfg, account.Peaks)
		require.NoError(t, err)
		close, err := bound.Of(context.Background(), j)
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
		all := NewRanking(10)
		for _, r := range rows {
			if r.Runs() && r.PeakMemory <= limit {
				all.Add(r)
			}
		}
		return planText(t, all)
	}
	peaks := NewRanking(1)
	for _, r := range rows {
		peaks.Add(r)
	}
	short := peaks.Groups()[0].Best[0].PeakMemory - 1 // the fastest does not fit
	for _, limit := range []int64{int64(space.Base.GPU.Memory), short} {
		found := NewRanking(10)
		counts := searched(t, space, limit, Shard{}, found)
		assert.Equal(t, plan(limit), planText(t, found))
		assert.Less(t, counts.Simulated, len(rows)/2, "most layouts are left out")
		union := NewRanking(10)
		for i := range 3 {
			searched(t, space, limit, Shard{i, 3}, union)
		}
		assert.Equal(t, plan(limit), planText(t, union))
	}
}

// searched runs a search of a shard and adds every row that it keeps to a ranking
// of the test's own.
func searched(t *testing.T, space *Space, limit int64, part Shard, found *Ranking) *PlanCounts {
	p := NewPlanner(space)
	p.Limit = limit
	var rows Rows
	last := 0
	progress := func(done, total int) {
		assert.Less(t, last, done)
		assert.LessOrEqual(t, done, total)
		last = done
	}
	plan, n, err := p.Plan(context.Background(), &rows, Options{Shard: part, Progress: progress})
	require.NoError(t, err)
	assert.Equal(t, part.Count(len(p.Layouts)), n.Layouts)
	assert.Equal(t, n.Layouts, n.TooLarge+n.TooSlow+n.Impossible+n.OutOfMemory+n.Failed+n.Simulated)
	for row := range rows.All() {
		found.Add(row)
	}
	if part.Whole() {
		assert.Equal(t, report.NewPlan("small", 8, PlanKeys(), found.Groups()), plan)
	}
	return n
}

func planText(t *testing.T, r *Ranking) string {
	var b strings.Builder
	p := report.NewPlan("small", 8, PlanKeys(), r.Groups())
	require.NoError(t, text.Plan(&b, p))
	require.NoError(t, p.WriteCSV(&b))
	return b.String()
}
