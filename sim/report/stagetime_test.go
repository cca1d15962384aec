package report

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/trace"
)

// A report's keys are never renamed, dropped or moved, whatever the tables hold.
func TestStageTimeJSON(t *testing.T) {
	s := StageTime{Stage: 3, Compute: 1, Recompute: 2, Host: 3, Comm: [trace.NumDimensions]float64{4, 5, 6, 7, 8}, Optimizer: 9, Bubble: 10, ExposedComm: 30, Step: 1e-7}
	text, err := json.Marshal(&s)
	require.NoError(t, err)
	assert.Equal(t, `{"stage":3,"compute_s":1,"recompute_s":2,"host_s":3,"tp_comm_s":4,"pp_comm_s":5,"dp_comm_s":6,"cp_comm_s":7,"ep_comm_s":8,`+
		`"optimizer_s":9,"bubble_s":10,"exposed_comm_s":30,"step_s":1e-7}`, string(text))
	var back StageTime
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, s, back)

	require.NoError(t, json.Unmarshal([]byte(`{"compute_s":null,"later_s":"x","dp_comm_s":2}`), &back), "of another version")
	assert.Equal(t, StageTime{Comm: [trace.NumDimensions]float64{trace.DP: 2}}, back)
	require.NoError(t, json.Unmarshal([]byte(`null`), &back))
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"dp_comm_s":"x"}`), &back), "dp_comm_s")
	assert.Error(t, json.Unmarshal([]byte(`[1]`), &back))
}

// Means are of every part: those of stages that are alike are theirs.
func TestMeanTime(t *testing.T) {
	s := StageTime{Compute: 1, Recompute: 2, Host: 3, Comm: [trace.NumDimensions]float64{4, 5, 6, 7, 8}, Optimizer: 9, Bubble: 10, ExposedComm: 30, Step: 55}
	assert.Equal(t, s, MeanTime([]StageTime{s, s}))
	assert.Equal(t, 2.5, MeanTime([]StageTime{s, {}}).Comm[trace.PP])
	assert.Zero(t, MeanTime(nil))
	sum := 0.0
	for _, p := range StageParts {
		sum += *p.Of(&s)
	}
	assert.Equal(t, s.Step, sum, "the parts add up")
}
