package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/bound"
	"trainsim/sim/trace"
)

// layoutRow is a simulated layout; few values make many of them equal.
func layoutRow(r *rand.Rand, point int) SweepRow {
	step := 1 + float64(r.IntN(12))/8
	return SweepRow{Point: point, ID: fmt.Sprint(point), Outcome: OutcomeOK, Metrics: &Metrics{
		GPUs: 8 << r.IntN(2), StepTime: step, PeakMemory: int64(10 + r.IntN(30)), Capacity: 50}}
}

// bruteForce finds by definition what a search keeps for one number of GPUs.
func bruteForce(rows []SweepRow, gpus, keep int) (best, front []int) {
	var all []SweepRow
	for _, r := range rows {
		if r.GPUs == gpus {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, faster)
	for i, r := range all {
		if r.StepTime > slowest*all[0].StepTime {
			continue
		}
		if i < keep {
			best = append(best, r.Point)
		}
		beaten := slices.ContainsFunc(all, func(o SweepRow) bool {
			return o.StepTime <= r.StepTime && o.PeakMemory <= r.PeakMemory &&
				(o.StepTime < r.StepTime || o.PeakMemory < r.PeakMemory || o.Point < r.Point)
		})
		if !beaten {
			front = append(front, r.Point)
		}
	}
	return best, front
}

func pointsOf(list []PlanEntry) (out []int) {
	for i := range list {
		out = append(out, list[i].Point)
	}
	return out
}

// In whatever order rows come, and if those that are needless by any sound bound
// are left out, the search keeps what the definition says.
func TestPlanSearchIsItsDefinition(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rows []SweepRow
		for i := range 60 {
			rows = append(rows, layoutRow(r, i))
		}
		s := NewPlanSearch(5)
		left := 0
		for _, i := range r.Perm(len(rows)) {
			b := bound.Bound{Time: sim.FromSeconds(rows[i].StepTime * (0.8 + 0.2*r.Float64())), Memory: rows[i].PeakMemory - int64(r.IntN(3))}
			if s.Needless(rows[i].GPUs, b) {
				left++
				continue
			}
			s.Add(rows[i])
			s.Add(rows[i]) // a row that is there already changes nothing
		}
		assert.Greater(t, left, 5)
		p := s.Plan("1", "s", 8, nil)
		require.Len(t, p.Sizes, 2)
		for _, size := range p.Sizes {
			best, front := bruteForce(rows, size.GPUs, 5)
			assert.Equal(t, best, pointsOf(size.Best), "seed %d", seed)
			assert.Equal(t, front, pointsOf(size.Front), "seed %d", seed)
		}
	}
}

func TestPlanSearchLeavesOutWhatDoesNotRun(t *testing.T) {
	s := NewPlanSearch(5)
	s.Add(SweepRow{Outcome: OutcomeOOM, Metrics: &Metrics{GPUs: 8, StepTime: 1}})
	s.Add(SweepRow{Outcome: OutcomeInvalid})
	assert.Empty(t, s.Plan("1", "s", 8, nil).Sizes)
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
		s := NewPlanSearch(5)
		s.Add(split)
		s.Add(SweepRow{Point: 1, Outcome: OutcomeOK, Settings: layoutSettings("1", "1", "1", zero), Metrics: &Metrics{GPUs: 8, StepTime: 1.009, PeakMemory: 2}})
		assert.True(t, strings.HasPrefix(s.Plan("1", "s", 8, nil).Sizes[0].Verdict, want), want)
	}
	s := NewPlanSearch(5)
	s.Add(split)
	s.Add(SweepRow{Point: 1, Outcome: OutcomeOK, Settings: layoutSettings("1", "1", "1", "0"), Metrics: &Metrics{GPUs: 8, StepTime: 1.02, PeakMemory: 2}})
	assert.Equal(t, "the model has to be split: the fastest layout is TP2 PP2 DP8 ZeRO-1 SP 4 x 2 interleaved v2 recompute full", s.Plan("1", "s", 8, nil).Sizes[0].Verdict)
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
	s := NewPlanSearch(5)
	s.Add(row(0, StageTime{Compute: 0.9, Bubble: 0.1}))
	s.Add(row(1, StageTime{Compute: 0.85, Bubble: 0.2, Comm: [trace.NumDimensions]float64{trace.TP: 0.01}}))
	s.Add(row(2, StageTime{Compute: 0.9, Bubble: 0.1601}))
	best := s.Plan("1", "s", 8, nil).Sizes[0].Best
	assert.Equal(t, "the fastest: computation but for 10.0 % bubble", best[0].Why)
	assert.Equal(t, "+6.0 %: +100.000 ms bubble, -50.000 ms computation", best[1].Why)
	assert.Equal(t, "+6.0 %: +60.100 ms bubble", best[2].Why)
}

func TestScalingIsAFront(t *testing.T) {
	s := NewPlanSearch(1)
	for i, step := range []float64{8, 4, 5, 1.6} {
		s.Add(SweepRow{Point: i, Outcome: OutcomeOK, Metrics: &Metrics{GPUs: 8 << i, StepTime: step}})
	}
	p := s.Plan("1", "s", 8, nil)
	assert.Equal(t, []PlanScale{{8, 8, 1}, {16, 4, 1}, {64, 1.6, 0.625}}, p.Scaling, "32 GPUs are slower than 16")
}
