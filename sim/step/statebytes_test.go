package step_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim/account"
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

// adam returns Adam's states beside a precision.
func adam(t *testing.T, p gpu.Dtype) job.Optimizer {
	o, err := job.OptimizerState("adam", p)
	require.NoError(t, err)
	return o
}

// Megatron-LM's documentation of the distributed optimizer has this table.
func TestOptimizerStateBytes(t *testing.T) {
	for _, line := range table(t, "optimizer_state_bytes.csv") {
		p, g := formats[line["param_dtype"]], formats[line["grad_dtype"]]
		o := adam(t, p)
		assert.Equal(t, number(t, line["bytes_per_param_plain"]), job.StateOf(p, g, o, 0, 1).Sum())
		fixed, shared, ok := strings.Cut(line["bytes_per_param_dist_optimizer"], "+")
		require.True(t, ok)
		spread, _, _ := strings.Cut(shared, "/d")
		for _, d := range []int64{1, 2, 8, 64, 3} {
			want := number(t, fixed) + number(t, spread)/float64(d)
			assert.InDelta(t, want, job.StateOf(p, g, o, 1, d).Sum(), 1e-12, "d = %d", d)
		}
	}
}

// Table 1 of the ZeRO paper: GB of 10^9 bytes, some rounded and
// some cut off at the last digit.
func TestZeROMemory(t *testing.T) {
	o := adam(t, gpu.FP16)
	for _, line := range table(t, "zero_memory_analytic.csv") {
		for zero, column := range []string{1: "stage1_gb", 2: "stage2_gb", 3: "stage3_gb"} {
			if column == "" {
				continue
			}
			b := job.StateOf(gpu.FP16, gpu.FP16, o, zero, int64(number(t, line["dp"])))
			_, decimals, _ := strings.Cut(line[column], ".")
			digit := 1.0
			for range decimals {
				digit /= 10
			}
			assert.InDelta(t, number(t, line[column]), b.Kept()*number(t, line["params_b"]), digit,
				"%s of %s billion parameters on %s ranks", column, line["params_b"], line["dp"])
		}
	}
}

// The account holds the formula's bytes, plus rounding to the allocator's
// blocks.
func TestAccountHoldsTheFormula(t *testing.T) {
	for _, c := range []struct {
		precision, grads string
		zero, dp         int
	}{{"fp16", "fp16", 0, 1}, {"bf16", "fp32", 0, 2}, {"fp32", "fp32", 0, 1}, {"fp16", "fp16", 1, 4}, {"bf16", "fp32", 1, 8}} {
		cfg := bare(small(t, job.Parallel{TP: 1, PP: 1, DP: c.dp, ZeRO: c.zero}, "1f1b", 1))
		cfg.GPU = device(t, "a100-sxm4-80gb")
		setFramework(t, cfg, "megatron")
		cfg.Training.Precision, cfg.Training.GradPrecision = c.precision, c.grads
		j, err := job.Build(cfg, account.Peaks)
		require.NoError(t, err)
		ranks, err := account.Replay(j)
		require.NoError(t, err)
		p, g := formats[c.precision], formats[c.grads]
		want := job.StateOf(p, g, adam(t, p), c.zero, int64(c.dp)).Kept() * float64(cfg.Model.ParametersOf(model.Run{Layers: int(cfg.Model.Layers)}))
		m := &ranks[0]
		got := float64(m.AtPeak[memory.Weights] + m.AtPeak[memory.Gradients] + m.AtPeak[memory.Optimizer])
		assert.InEpsilon(t, want, got, 0.01, "%+v", c)
	}
}
