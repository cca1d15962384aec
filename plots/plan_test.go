package plots

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		for _, format := range Formats {
			var first, second bytes.Buffer
			for _, b := range []*bytes.Buffer{&first, &second} {
				fig, err := Plan(p, Options{})
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
	_, err := Plan(&report.Plan{}, Options{})
	assert.ErrorIs(t, err, errNoPlan)
}
