package calibrate

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/scenarios/measured"
	"trainsim/sim/gpu"
)

// kernels reads a table of measured kernels.
func kernels(t testing.TB, name string) []measured.KernelTime {
	t.Helper()
	text, err := os.ReadFile("../measured/testdata/" + name)
	require.NoError(t, err)
	ms, err := measured.ReadKernels(text, name)
	require.NoError(t, err)
	return ms
}

// preset reads a device preset.
func preset(t testing.TB, name string) *gpu.Device {
	t.Helper()
	d, err := scenarios.LoadGPU(name)
	require.NoError(t, err)
	return d
}

// score is the presets' score on the rows of one operation of a table.
func score(t testing.TB, d *gpu.Device, ms []measured.KernelTime, operation string) operationScore {
	t.Helper()
	var rows []*measured.KernelTime
	for _, m := range usable(ms, d) {
		if m.Operation == operation {
			rows = append(rows, m)
		}
	}
	require.NotEmpty(t, rows, "%s: %s", d.Name, operation)
	return newResiduals(rows, d)[0]
}

func TestPresetsPredictMeasuredKernels(t *testing.T) {
	for _, c := range []struct {
		device, table, operation string
		n                        int
		median, bias             float64
	}{
		{"a100-sxm4-80gb", "gemm.csv", "gemm TN", 673, 0.03, 0.02},
		{"h100-sxm5-80gb", "gemm.csv", "gemm TN", 915, 0.03, 0.02},
		{"h200-sxm-141gb", "gemm.csv", "gemm TN", 940, 0.03, 0.02},
		{"b200-sxm-180gb", "gemm.csv", "gemm TN", 931, 0.07, 0.04},
		{"a100-sxm4-80gb", "attention.csv", "attention forward", 173, 0.03, 0.02},
		{"h100-sxm5-80gb", "attention.csv", "attention forward", 335, 0.04, 0.02},
		{"b200-sxm-180gb", "attention.csv", "attention forward", 335, 0.04, 0.02},
		{"a100-pcie-80gb", "efficiency.csv", "gemm TN", 33, 0.02, 0.02},
		{"a100-pcie-80gb", "efficiency.csv", "gemm NN", 31, 0.02, 0.02},
		{"a100-pcie-80gb", "efficiency.csv", "gemm NT", 36, 0.02, 0.02},
		{"a100-pcie-80gb", "efficiency.csv", "attention training forward", 7, 0.04, 0.03},
		{"a100-pcie-80gb", "efficiency.csv", "attention backward", 8, 0.08, 0.08},
		{"b200-sxm-180gb", "efficiency.csv", "gemm TN", 85, 0.06, 0.04},
		{"b200-sxm-180gb", "efficiency.csv", "gemm NN", 88, 0.06, 0.06},
		{"b200-sxm-180gb", "efficiency.csv", "gemm NT", 140, 0.06, 0.04},
		{"b200-sxm-180gb", "efficiency.csv", "attention training forward", 20, 0.05, 0.04},
		{"b200-sxm-180gb", "efficiency.csv", "attention backward", 21, 0.05, 0.06},
	} {
		s := score(t, preset(t, c.device), kernels(t, c.table), c.operation)
		t.Logf("%-15s %-27s n %3d  mean %.1f%%  bias %+.1f%%  median %.1f%%  p90 %.1f%%", c.device, c.operation, s.N,
			100*s.Mean, 100*s.Bias, 100*s.Median, 100*s.P90)
		assert.Equal(t, c.n, s.N, "%s %s", c.device, c.operation)
		assert.LessOrEqual(t, s.Median, c.median, "%s %s: median", c.device, c.operation)
		assert.InDelta(t, 0, s.Bias, c.bias, "%s %s: bias", c.device, c.operation)
	}
}

// every returns one row of n, from the given one on.
func every(ms []measured.KernelTime, n, from int) []measured.KernelTime {
	var out []measured.KernelTime
	for i := from; i < len(ms); i += n {
		out = append(out, ms[i])
	}
	return out
}

func TestFitGeneralisesToRowsItHasNotSeen(t *testing.T) {
	d := preset(t, "h100-sxm5-80gb")
	d.GEMM.Launch, d.GEMM.Drain, d.Power.FullClock = 2*d.GEMM.Launch, d.GEMM.Drain/2, 0.7 // off the preset
	for i := range d.GEMM.Tiles {
		d.GEMM.Tiles[i].Efficiency *= 0.9
	}
	before := score(t, d, kernels(t, "gemm.csv"), "gemm TN")
	fitted, residuals, err := fitDevice(context.Background(), every(kernels(t, "gemm.csv"), 8, 0), *d, gemmGroup, powerGroup)
	require.NoError(t, err)
	require.NoError(t, fitted.Validate())
	held := score(t, &fitted, every(kernels(t, "gemm.csv"), 8, 3), "gemm TN")
	t.Logf("before %.3f, fitted %.3f, held out %.3f", before.Median, residuals[0].Median, held.Median)
	assert.Greater(t, before.Median, 0.08)
	assert.LessOrEqual(t, held.Median, 0.04)
	assert.InDelta(t, residuals[0].Median, held.Median, 0.015)
}

func TestFitDependsOnItsArgumentsOnly(t *testing.T) {
	rows := kernels(t, "attention.csv")
	d := preset(t, "a100-sxm4-80gb")
	untouched := *d
	a, ra, err := fitDevice(context.Background(), rows, *d)
	require.NoError(t, err)
	b, rb, err := fitDevice(context.Background(), rows, *d)
	require.NoError(t, err)
	assert.Equal(t, a, b)
	assert.Equal(t, ra, rb)
	assert.Equal(t, untouched, *d)
	assert.Equal(t, d.GEMM, a.GEMM, "no row decides the GEMMs")
}

func TestFitIgnoresOtherDevicesAndRefusesTooFewRows(t *testing.T) {
	d := preset(t, "v100-sxm2-16gb")
	_, _, err := fitDevice(context.Background(), kernels(t, "gemm.csv"), *d)
	assert.ErrorIs(t, err, errTooFewKernels)
	_, _, err = fitDevice(context.Background(), nil, *d)
	assert.ErrorIs(t, err, errTooFewKernels)
}

func TestFitRefusesWhatTheDeviceCannotReach(t *testing.T) {
	rows := kernels(t, "gemm.csv")
	for i := range rows {
		if preset(t, "b200-sxm-180gb").Is(rows[i].Device) {
			rows[i].Device = "a100-sxm4-80gb"
		} else {
			rows[i].Skipped = "another"
		}
	}
	_, _, err := fitDevice(context.Background(), rows, *preset(t, "a100-sxm4-80gb"))
	assert.ErrorIs(t, err, errAbovePeak)
}

func BenchmarkFit(b *testing.B) {
	d := preset(b, "a100-sxm4-80gb")
	rows := every(kernels(b, "gemm.csv"), 4, 0)
	for b.Loop() {
		if _, _, err := fitDevice(context.Background(), rows, *d, gemmGroup); err != nil {
			b.Fatal(err)
		}
	}
}
