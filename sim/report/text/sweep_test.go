package text_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
	"trainsim/sim/report/text"
)

// A long sweep shows its best points and names what does not run.
func TestSweep(t *testing.T) {
	rows := func(yield func(report.SweepRow, error) bool) {
		for i := range 500 {
			r := report.SweepRow{Point: i, Outcome: report.OutcomeOK, Metrics: &report.Metrics{StepTime: float64(1 + i), SampleTime: float64(1 + i)},
				Settings: report.Settings{{Key: "s.m", Value: fmt.Sprint(i)}}}
			if i == 0 {
				r.Outcome, r.Reason = report.OutcomeOOM, "stage 0 is full"
			}
			if !yield(r, nil) {
				return
			}
		}
	}
	d := &report.SweepDoc{Scenario: "s", Axes: []report.Axis{{Key: "s.m", Values: []string{"1", "2"}}}, Rows: rows}
	s, err := d.Summarize()
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, text.Sweep(&b, d, s))
	assert.Contains(t, b.String(), "the best 20 of 500 points")
	assert.Contains(t, b.String(), "Best: m=1 with 2.000 s a sample")
	assert.Contains(t, b.String(), "Out of memory: 1 of 500 points, first point 0: stage 0 is full")
}
