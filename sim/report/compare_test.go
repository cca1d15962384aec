package report

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func reported(step float64, scenario any) *Report {
	return &Report{Scenario: scenario, StepTime: step, SamplesPerS: 8 / step, MFU: 0.4,
		TimePerStage:   []StageTime{{Compute: 2 * step}, {Compute: step}},
		MemoryPerStage: []StageMemory{{NvidiaSMI: 1 << 30, Capacity: 4 << 30}, {NvidiaSMI: 3 << 30, Capacity: 4 << 30}}}
}

func result(t *testing.T, c *Comparison, key string) ResultDiff {
	for _, r := range c.Results {
		if r.Key == key {
			return r
		}
	}
	t.Fatalf("no result %s", key)
	return ResultDiff{}
}

func TestCompare(t *testing.T) {
	a := reported(2, map[string]any{"name": "a", "parallel": map[string]any{"tp": int64(4), "pp": int64(2)}, "list": []int{1, 2}})
	var saved any // as a report that was read from a file has it
	require.NoError(t, json.Unmarshal([]byte(`{"name": "b", "parallel": {"tp": 4.0, "pp": 1, "ep": 2}, "list": [1, 2]}`), &saved))
	b := reported(3, saved)
	c, err := Compare([]string{"a", "b"}, []*Report{a, b}, 1)
	require.NoError(t, err)
	var keys []string
	for _, s := range c.Settings {
		keys = append(keys, fmt.Sprintf("%s %s %s", s.Key, s.Values[0], s.Values[1]))
	}
	assert.Equal(t, []string{`name "a" "b"`, "parallel.ep null 2", "parallel.pp 2 1"}, keys)

	step := result(t, c, "step_time_s")
	assert.Equal(t, []float64{2, 3}, step.Values)
	assert.InDelta(t, 2.0/3, *step.Ratios[0], 1e-15)
	assert.Equal(t, 1.0, *step.Ratios[1])
	assert.Equal(t, []float64{3, 4.5}, result(t, c, "compute_s").Values)
	assert.Equal(t, []float64{3 << 30, 3 << 30}, result(t, c, "peak_memory_bytes").Values)
	assert.Nil(t, result(t, c, "tp_comm_s").Ratios[0], "no ratio to nothing")
	assert.Equal(t, []float64{8, 8}, result(t, c, "samples").Values)
}

// A report beside itself differs in nothing and is once the baseline.
func TestCompareWithItself(t *testing.T) {
	a := reported(2, map[string]any{"name": "a"})
	c, err := Compare([]string{"a", "a"}, []*Report{a, a}, 0)
	require.NoError(t, err)
	assert.Empty(t, c.Settings)
	for _, r := range c.Results {
		assert.Equal(t, r.Values[0], r.Values[1])
		if r.Ratios[1] != nil {
			assert.Equal(t, 1.0, *r.Ratios[1], r.Key)
		}
	}
}
