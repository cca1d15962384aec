package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/trace"
)

// planOf is the plan of layouts that come by growing number of GPUs, the fastest
// of each first.
func planOf(rows []SweepRow) *Plan {
	var groups []PlanGroup
	for _, r := range rows {
		if n := len(groups); n == 0 || groups[n-1].GPUs != r.GPUs {
			groups = append(groups, PlanGroup{GPUs: r.GPUs})
		}
		g := &groups[len(groups)-1]
		g.Best = append(g.Best, r)
	}
	return NewPlan("s", 8, nil, groups)
}

func layoutSettings(tp, pp, cp, zero string) Settings {
	return Settings{{"parallel.tp", tp}, {"parallel.pp", pp}, {"parallel.cp", cp}, {"parallel.dp", "8"}, {"parallel.zero", zero},
		{"schedule.kind", "interleaved"}, {"schedule.virtual_stages", "2"}, {"schedule.microbatches", "4"}, {"schedule.microbatch_size", "2"},
		{"training.recompute", "full"}, {"parallel.sequence_parallel", "true"}}
}

// Where one per cent is between them, the layout with less to set up is advised.
func TestVerdicts(t *testing.T) {
	split := SweepRow{Point: 0, Outcome: OutcomeOK, Settings: layoutSettings("2", "2", "1", "1"), Metrics: &Metrics{GPUs: 8, StepTime: 1, PeakMemory: 1}}
	for want, zero := range map[string]string{
		"data parallel is enough: everything fits":                           "0",
		"data parallel is enough, with the optimizer state sharded (ZeRO-1)": "1",
		"sharded data parallel (ZeRO-3) is enough":                           "3",
	} {
		var rows []SweepRow
		rows = append(rows, split)
		rows = append(rows, SweepRow{Point: 1, Outcome: OutcomeOK, Settings: layoutSettings("1", "1", "1", zero), Metrics: &Metrics{GPUs: 8, StepTime: 1.009, PeakMemory: 2}})
		assert.True(t, strings.HasPrefix(planOf(rows).Sizes[0].Verdict, want), want)
	}
	var rows []SweepRow
	rows = append(rows, split)
	rows = append(rows, SweepRow{Point: 1, Outcome: OutcomeOK, Settings: layoutSettings("1", "1", "1", "0"), Metrics: &Metrics{GPUs: 8, StepTime: 1.02, PeakMemory: 2}})
	assert.Equal(t, "the model has to be split: the fastest layout is TP2 PP2 DP8 ZeRO-1 SP 4 x 2 interleaved v2 recompute full", planOf(rows).Sizes[0].Verdict)
}

// Why a layout is where it is names the parts of the step that differ most, and
// the parts that are named are the differences of the means.
func TestWhy(t *testing.T) {
	row := func(point int, mean StageTime) SweepRow {
		total := 0.0
		for _, p := range StageParts {
			total += *p.Of(&mean)
		}
		mean.Step = total
		return SweepRow{Point: point, Outcome: OutcomeOK, Metrics: &Metrics{GPUs: 8, StepTime: total, PeakMemory: int64(9 - point)}, Mean: &mean}
	}
	var rows []SweepRow
	rows = append(rows, row(0, StageTime{Compute: 0.9, Bubble: 0.1}))
	rows = append(rows, row(1, StageTime{Compute: 0.85, Bubble: 0.2, Comm: [trace.NumDimensions]float64{trace.TP: 0.01}}))
	rows = append(rows, row(2, StageTime{Compute: 0.9, Bubble: 0.1601}))
	best := planOf(rows).Sizes[0].Best
	assert.Equal(t, "the fastest: computation but for 10.0 % bubble", best[0].Why)
	assert.Equal(t, "+6.0 %: +100.000 ms bubble, -50.000 ms computation", best[1].Why)
	assert.Equal(t, "+6.0 %: +60.100 ms bubble", best[2].Why)
}

func TestScalingIsAFront(t *testing.T) {
	var rows []SweepRow
	for i, step := range []float64{8, 4, 5, 1.6} {
		rows = append(rows, SweepRow{Point: i, Outcome: OutcomeOK, Metrics: &Metrics{GPUs: 8 << i, StepTime: step}})
	}
	p := planOf(rows)
	assert.Equal(t, []PlanScale{{8, 8, 1}, {16, 4, 1}, {64, 1.6, 0.625}}, p.Scaling, "32 GPUs are slower than 16")
}
