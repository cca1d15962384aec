package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
)

func ptr[T any](x T) *T { return &x }

// timed is a row whose prediction is off by a fraction.
func timed(family string, e float64) report.Scored {
	return report.Scored{Family: family, Measured: ptr(2.0), Predicted: ptr(2 * (1 + e))}
}

// Of an even number of errors the median is the mean of the two middle ones.
func TestScoreMedianOfAnEvenNumber(t *testing.T) {
	s := report.NewScore([]report.Scored{timed("a", 0.4), timed("a", -0.1), timed("a", 0.8), timed("a", 0.2)})
	assert.InDelta(t, 0.3, s.Families[0].Median, 1e-12)
}

func TestScoreOfTimes(t *testing.T) {
	var rows []report.Scored
	for _, e := range []float64{0.1, -0.3, 0, 0.2, -0.2} {
		rows = append(rows, timed("a", e))
	}
	rows = append(rows, timed("b", 0.5))
	s := report.NewScore(rows)
	require.Len(t, s.Families, 2)
	a := s.Families[0]
	assert.Equal(t, "a", a.Family)
	assert.Equal(t, 5, a.N)
	assert.InDelta(t, 0.16, a.MAPE, 1e-12)
	assert.InDelta(t, -0.04, a.Bias, 1e-12)
	assert.InDelta(t, 0.2, a.Median, 1e-12)
	assert.InDelta(t, 0.3, a.P90, 1e-12)
	assert.InDelta(t, 0.3, a.Worst, 1e-12)
	assert.InDelta(t, 0.5, s.Families[1].MAPE, 1e-12)
	all := s.Total()
	assert.Equal(t, 6, all.N)
	assert.InDelta(t, (5*a.MAPE+0.5)/6, all.MAPE, 1e-12)
}

func TestScoreOfMemoryAndOutcomes(t *testing.T) {
	s := report.NewScore([]report.Scored{
		{Family: "a", MeasuredBytes: ptr(int64(100)), PredictedBytes: ptr(int64(90)), OutcomeMeasured: "ok", OutcomePredicted: "ok"},
		{Family: "a", MeasuredBytes: ptr(int64(100)), PredictedBytes: ptr(int64(130)), OutcomeMeasured: "oom", OutcomePredicted: "ok"},
		{Family: "a", PredictedBytes: ptr(int64(7)), OutcomeMeasured: "oom", OutcomePredicted: "oom"},
	})
	a := s.Families[0]
	assert.Zero(t, a.N)
	assert.Equal(t, 2, a.MemoryN)
	assert.InDelta(t, 0.2, a.MemoryMAPE, 1e-12)
	assert.InDelta(t, 0.3, a.MemoryWorst, 1e-12)
	assert.Equal(t, 2, a.OutcomeRight)
	assert.Equal(t, 3, a.OutcomeN)
	assert.InDelta(t, -0.1, *s.Rows[0].MemoryError, 1e-12)
	assert.Nil(t, s.Rows[2].MemoryError)
}

// What is skipped counts as missed by all of it.
func TestSkippedRowsCount(t *testing.T) {
	s := report.NewScore([]report.Scored{
		timed("a", 0),
		{ID: "x-1", Family: "a", Measured: ptr(1.0), MeasuredBytes: ptr(int64(1)), OutcomeMeasured: "ok", Skipped: "no such cluster"},
	})
	a := s.Families[0]
	assert.Equal(t, 2, a.N)
	assert.InDelta(t, 0.5, a.MAPE, 1e-12)
	assert.InDelta(t, -0.5, a.Bias, 1e-12)
	assert.InDelta(t, 1, a.Worst, 1e-12)
	assert.InDelta(t, 1, a.MemoryMAPE, 1e-12)
	assert.Equal(t, 0, a.OutcomeRight)
	assert.Equal(t, 1, a.Skipped)
}

// Order does not matter to the figures.
func TestScoreOfAnyOrder(t *testing.T) {
	var rows []report.Scored
	for i := range 50 {
		rows = append(rows, timed("a", math.Sin(float64(i))/3))
	}
	forward := report.NewScore(rows).Families[0]
	back := make([]report.Scored, len(rows))
	for i := range rows {
		back[len(rows)-1-i] = rows[i]
	}
	backward := report.NewScore(back).Families[0]
	assert.InDelta(t, forward.MAPE, backward.MAPE, 1e-12)
	assert.Equal(t, forward.Median, backward.Median)
	assert.Equal(t, forward.P90, backward.P90)
}

func TestScoreAsJSON(t *testing.T) {
	text, err := json.Marshal(report.NewScore([]report.Scored{timed("a", 0.25)}))
	require.NoError(t, err)
	for _, key := range []string{
		"id", "family", "quality", "measured_s", "predicted_s", "time_error", "measured_bytes", "predicted_bytes", "memory_error",
		"mem_metric", "outcome_measured", "outcome_predicted", "skipped",
		"n", "mape", "bias", "median", "p90", "worst", "memory_mape", "memory_worst", "outcome_right", "outcome_n",
	} {
		assert.Contains(t, string(text), fmt.Sprintf("%q:", key))
	}
	assert.Contains(t, string(text), `"time_error":0.25`)
	assert.Contains(t, string(text), `"memory_error":null`)
}

func ExampleNewScore() {
	measured, predicted := 2.0, 2.1
	s := report.NewScore([]report.Scored{{ID: "run-1", Family: "run", Measured: &measured, Predicted: &predicted}})
	fmt.Printf("%s: mean error %.1f %%\n", s.Families[0].Family, 100*s.Families[0].MAPE)
	// Output: run: mean error 5.0 %
}
