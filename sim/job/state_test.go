package job_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/framework"
	"trainsim/sim/gpu"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// formats are the number formats of the tables.
var formats = map[string]gpu.Dtype{"fp16": gpu.FP16, "bf16": gpu.BF16, "fp32": gpu.FP32}

// table reads a CSV file of testdata as a map for each line.
func table(t *testing.T, name string) []map[string]string {
	file, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	var out []map[string]string
	for _, record := range records[1:] {
		line := make(map[string]string)
		for i, key := range records[0] {
			line[key] = record[i]
		}
		out = append(out, line)
	}
	return out
}

func number(t *testing.T, s string) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	require.NoError(t, err)
	return x
}

// mean returns the bytes of a parameter that is trained by Adam.
func mean(t *testing.T, precision, grads gpu.Dtype, zero int, ranks int64) (job.State, job.StateBytes) {
	o, err := job.OptimizerState("adam", precision)
	require.NoError(t, err)
	c := job.Config{Parallel: job.Parallel{TP: 1, PP: 1, CP: 1, DP: int(ranks), ZeRO: zero}}
	c.Framework.States = framework.MegatronStates
	s := c.State(&model.Spec{Precision: precision, GradDtype: grads}, o, ranks)
	return s, s.Mean(ranks)
}

// Megatron-LM's documentation of the distributed optimizer has this table.
func TestOptimizerStateBytes(t *testing.T) {
	for _, line := range table(t, "optimizer_state_bytes.csv") {
		p, g := formats[line["param_dtype"]], formats[line["grad_dtype"]]
		_, whole := mean(t, p, g, 0, 1)
		assert.Equal(t, number(t, line["bytes_per_param_plain"]), whole.Sum())
		fixed, shared, ok := strings.Cut(line["bytes_per_param_dist_optimizer"], "+")
		require.True(t, ok)
		spread, _, _ := strings.Cut(shared, "/d")
		for _, d := range []int64{1, 2, 8, 64, 3} {
			want := number(t, fixed) + number(t, spread)/float64(d)
			_, b := mean(t, p, g, 1, d)
			assert.InDelta(t, want, b.Sum(), 1e-12, "d = %d", d)
		}
	}
}

// Table 1 of the ZeRO paper: GB of 10^9 bytes, some rounded and some cut off at
// the last digit. Of its second stage PyTorch's differs: beside the weights that
// stay gathered each rank has its shard in fp32, and the gradients' too.
func TestZeROMemory(t *testing.T) {
	for _, line := range table(t, "zero_memory_analytic.csv") {
		for zero, column := range []string{1: "stage1_gb", 2: "stage2_gb", 3: "stage3_gb"} {
			if column == "" {
				continue
			}
			d := int64(number(t, line["dp"]))
			s, b := mean(t, gpu.FP16, gpu.FP16, zero, d)
			got := b.Kept()
			if zero == 2 && d > 1 {
				got += float64(s.ReadBytes) - float64(s.Gradients.Bytes-s.SummedBytes)/float64(d)
			}
			_, decimals, _ := strings.Cut(line[column], ".")
			digit := 1.0
			for range decimals {
				digit /= 10
			}
			assert.InDelta(t, number(t, line[column]), got*number(t, line["params_b"]), digit,
				"%s of %s billion parameters on %s ranks", column, line["params_b"], line["dp"])
		}
	}
}
