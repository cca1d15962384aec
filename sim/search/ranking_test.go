package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/bound"
	"trainsim/sim/report"
)

// layoutRow is a simulated layout; few values make many of them equal.
func layoutRow(r *rand.Rand, point int) report.SweepRow {
	step := 1 + float64(r.IntN(12))/8
	return report.SweepRow{Point: point, ID: fmt.Sprint(point), Outcome: report.OutcomeOK, Metrics: &report.Metrics{
		GPUs: 8 << r.IntN(2), StepTime: step, PeakMemory: int64(10 + r.IntN(30)), Capacity: 50}}
}

// bruteForce finds by definition what a search keeps for one number of GPUs.
func bruteForce(rows []report.SweepRow, gpus, keep int) (best, front []int) {
	var all []report.SweepRow
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
		beaten := slices.ContainsFunc(all, func(o report.SweepRow) bool {
			return o.StepTime <= r.StepTime && o.PeakMemory <= r.PeakMemory &&
				(o.StepTime < r.StepTime || o.PeakMemory < r.PeakMemory || o.Point < r.Point)
		})
		if !beaten {
			front = append(front, r.Point)
		}
	}
	return best, front
}

func pointsOf(rows []report.SweepRow) (out []int) {
	for i := range rows {
		out = append(out, rows[i].Point)
	}
	return out
}

// In whatever order rows come, and if those that are needless by any sound bound
// are left out, the search keeps what the definition says.
func TestRankingIsItsDefinition(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rows []report.SweepRow
		for i := range 60 {
			rows = append(rows, layoutRow(r, i))
		}
		s := NewRanking(5)
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
		groups := s.Groups()
		require.Len(t, groups, 2)
		for _, g := range groups {
			best, front := bruteForce(rows, g.GPUs, 5)
			assert.Equal(t, best, pointsOf(g.Best), "seed %d", seed)
			assert.Equal(t, front, pointsOf(g.Front), "seed %d", seed)
		}
	}
}

func TestRankingLeavesOutWhatDoesNotRun(t *testing.T) {
	s := NewRanking(5)
	s.Add(report.SweepRow{Outcome: report.OutcomeOOM, Metrics: &report.Metrics{GPUs: 8, StepTime: 1}})
	s.Add(report.SweepRow{Outcome: report.OutcomeInvalid})
	assert.Empty(t, s.Groups())
}
