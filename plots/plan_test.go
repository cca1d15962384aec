package plots

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

// examplePlan has fronts of growing numbers of GPUs.
func examplePlan(sizes ...int) *report.Plan {
	p := &report.Plan{Scenario: "example", Batch: 128}
	for _, gpus := range sizes {
		s := report.PlanSize{GPUs: gpus}
		for i := range 6 {
			step := 64 / float64(gpus) * (1 + 0.1*float64(i))
			e := report.PlanEntry{Rank: i + 1, SweepRow: report.SweepRow{Point: i, Outcome: report.OutcomeOK,
				Settings: report.Settings{{Key: "parallel.tp", Value: fmt.Sprint(1 << i)}},
				Metrics:  &report.Metrics{GPUs: gpus, StepTime: step, PeakMemory: int64(70-10*i) << 30, Capacity: 80 << 30},
				Mean:     &report.StageTime{Compute: 0.8 * step, Bubble: 0.2 * step, Step: step}}}
			s.Best, s.Front = append(s.Best, e), append(s.Front, e)
		}
		p.Sizes = append(p.Sizes, s)
		p.Scaling = append(p.Scaling, report.PlanScale{GPUs: gpus, StepTime: s.Best[0].StepTime})
	}
	return p
}

func TestPlanFigure(t *testing.T) {
	for _, p := range []*report.Plan{examplePlan(64), examplePlan(16, 32, 64)} {
		for _, format := range chart.Formats {
			var first, second bytes.Buffer
			for _, b := range []*bytes.Buffer{&first, &second} {
				fig, err := plan(p, chart.Options{})
				require.NoError(t, err)
				require.NoError(t, fig.Encode(b, format))
			}
			assert.True(t, bytes.Equal(first.Bytes(), second.Bytes()), "%s: the same bytes each time", format)
			assert.NotEmpty(t, first.Bytes())
		}
	}
	one, several := newPlanFigure(examplePlan(64)), newPlanFigure(examplePlan(16, 64))
	assert.Contains(t, one.facts(), "fastest: ")
	assert.Contains(t, several.facts(), "1.00 s on 64 GPUs")
	assert.Equal(t, 6.0, several.slowest)
	_, err := plan(&report.Plan{}, chart.Options{})
	assert.ErrorIs(t, err, errNoPlan)
}

// No rank lies on a ring, on another rank or on the line of the capacity,
// however crowded the fastest layouts are.
func TestPlanRanksDoNotOverlap(t *testing.T) {
	const size, capacity = 14, 40
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		rings := make([]vg.Point, 10)
		spread := 1 + 60*rng.Float64()
		for i := range rings {
			rings[i] = vg.Point{X: vg.Length(spread * rng.Float64()), Y: vg.Length(spread * rng.Float64())}
		}
		taken := slices.Clone(rings)
		labels := placeRanks(rings, capacity, size)
		for i := range rings {
			label, ok := labels[i]
			if !ok {
				continue
			}
			assert.Greater(t, math.Abs(float64(label.Y-capacity)), 0.6*size)
			for _, o := range taken {
				require.False(t, near(label, o, size), "%v on %v", label, o)
			}
			taken = append(taken, label)
		}
	}
	assert.Contains(t, placeRanks([]vg.Point{{X: 5, Y: 5}, {X: 5, Y: 5}}, capacity, size), 0)
	assert.Len(t, placeRanks([]vg.Point{{}, {X: 100}}, capacity, size), 2, "with room all are written")
}
