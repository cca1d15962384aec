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

func compared(step float64, scenario any) *report.Report {
	return &report.Report{Scenario: scenario, StepTime: step, SamplesPerS: 8 / step, MFU: 0.4,
		TimePerStage: []report.StageTime{{Compute: 2 * step}, {Compute: step}}}
}

func TestComparison(t *testing.T) {
	a, b := compared(2, map[string]any{"name": "a"}), compared(3, map[string]any{"name": "b"})
	c, err := report.Compare([]string{"a", "b"}, []*report.Report{a, b}, 1)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, text.Comparison(&out, c, false))
	assert.Contains(t, out.String(), "2.000 s (0.667)")
	assert.NotContains(t, out.String(), "tp_comm_s")
	assert.NotContains(t, out.String(), "The global batches differ")
}

func TestComparisonWithItself(t *testing.T) {
	a := compared(2, map[string]any{"name": "a"})
	c, err := report.Compare([]string{"a", "a"}, []*report.Report{a, a}, 0)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, text.Comparison(&out, c, false))
	assert.Contains(t, out.String(), "nothing")
}

func TestCompareListsFewKeysOfADevice(t *testing.T) {
	gpu := func(n int) any {
		m := map[string]any{}
		for i := range 30 {
			m[fmt.Sprintf("k%02d", i)] = n * i
		}
		return map[string]any{"gpu": m}
	}
	c, err := report.Compare([]string{"a", "b"}, []*report.Report{compared(1, gpu(1)), compared(1, gpu(2))}, 0)
	require.NoError(t, err)
	assert.Len(t, c.Settings, 29, "0 is the same")
	var short, long strings.Builder
	require.NoError(t, text.Comparison(&short, c, false))
	require.NoError(t, text.Comparison(&long, c, true))
	assert.Contains(t, short.String(), "gpu: 17 more")
	assert.NotContains(t, long.String(), "more")
}
