package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/scenarios/measured"
	"trainsim/sim/gpu"
)

// slowedKernels is a table of GEMMs that take a quarter longer than the
// device's preset says.
func slowedKernels(t *testing.T) string {
	d, err := scenarios.LoadGPU("a100-sxm4-80gb")
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("gpu_type,dtype,m,n,k,time_us\n")
	for _, m := range []int64{512, 1024, 2048, 4096, 8192} {
		for _, n := range []int64{1024, 4096, 12288} {
			k := gpu.Kernel{Kind: gpu.GEMM, Batch: 1, M: m, N: n, K: 4096, In: gpu.BF16, Out: gpu.BF16}
			fmt.Fprintf(&b, "my card,bf16,%d,%d,%d,%.3f\n", m, n, k.K, 1.25*d.TimeAlone(&k, 9).Microseconds())
		}
	}
	return write(t, "kernels.csv", b.String())
}

// A device that is slower than its preset is found again, and the written
// preset predicts it.
func TestCalibrateGPU(t *testing.T) {
	table, out := slowedKernels(t), filepath.Join(t.TempDir(), "mine.toml")
	before := scoreOf(t, table, "--gpu", "a100-sxm4-80gb").Families[0]
	assert.InDelta(t, 0.2, before.MAPE, 0.01)
	r := trainsim("calibrate", "--gpu", "a100-sxm4-80gb", table, "--out", out)
	require.Zero(t, r.code, r.stderr)
	assert.Contains(t, r.stdout, "after")
	after := scoreOf(t, table, "--gpu", out).Families[0]
	assert.Less(t, after.MAPE, 0.03)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Contains(t, string(text), "# The gpu preset a100-sxm4-80gb, fitted by trainsim calibrate to kernels.csv")
	assert.Contains(t, string(text), "\npreset = \"a100-sxm4-80gb\"\n\n[power]\n")
	assert.NotContains(t, string(text), "[streaming]", "nothing of it was fitted")
	r = trainsim("calibrate", "--gpu", out, table, "--out", out)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.stderr, "cannot stand on itself")
}

// Links that are slower than the preset's are found again.
func TestCalibrateCluster(t *testing.T) {
	slow := write(t, "slow.toml", "preset = \"dgx-a100\"\nnvlink_efficiency = 0.4\n")
	var b strings.Builder
	b.WriteString("gpu_type,gpus,collective,size_bytes,time_us\n")
	var comms measured.Communicators
	for _, mib := range []int{64, 128, 256, 512, 1024} {
		c := measured.Collective{Cluster: slow, Nodes: 1, Devices: 8, Bytes: int64(mib) << 20}
		took, err := comms.Predict(&c)
		require.NoError(t, err)
		fmt.Fprintf(&b, "A100,8,all_reduce,%d,%.3f\n", c.Bytes, took.Microseconds())
	}
	table, out := write(t, "nccl.csv", b.String()), filepath.Join(t.TempDir(), "mine.toml")
	r := trainsim("calibrate", "--cluster", "dgx-a100", table, "--out", out)
	require.Zero(t, r.code, r.stderr)
	after := scoreOf(t, table, "--cluster", out).Families[0]
	assert.Less(t, after.MAPE, 0.02)
	c, _, err := scenarios.LoadCluster(out)
	require.NoError(t, err)
	assert.InDelta(t, 0.4, c.NVLinkEfficiency, 0.02)
}

// Of a table of several machines only the cluster's own rows count, and of
// those the ones that it can run.
func TestCalibrateLeavesRowsOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("gpu_type,gpus,nodes,collective,size_bytes,time_us\n")
	for _, mib := range []int64{64, 128, 256, 512, 1024} {
		fmt.Fprintf(&b, "L40S,8,1,all_reduce,%d,%d\nH100-SXM,8,1,all_reduce,%d,1\n", mib<<20, 1200*mib, mib<<20)
	}
	b.WriteString("L40S,16,2,all_reduce,1024,100\nL40S,8,1,all_reduce,1024,\nnot stated,8,1,all_reduce,1024,100\n")
	table, out := write(t, "nccl.csv", b.String()), filepath.Join(t.TempDir(), "mine.toml")
	r := trainsim("calibrate", "--cluster", "l40s-8x", table, "--out", out)
	require.Zero(t, r.code, r.stderr)
	assert.NotContains(t, r.stdout, "H100")
	assert.Contains(t, r.stderr, "fitted to 5 of 13 rows; left out: 6 of other GPUs than l40s-48gb, 1 without a figure to fit to, 1 that the cluster cannot run (nccl.csv:12: ")
	assert.Contains(t, r.stderr, "2 nodes need network cards")
	r = trainsim("calibrate", "--cluster", "dgx-a100", table, "--out", out)
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, "13 of other GPUs than a100-sxm4-80gb")
}

func TestCalibrateNeedsOnePresetAndRows(t *testing.T) {
	table := slowedKernels(t)
	assert.Equal(t, exitUsage, trainsim("calibrate", table).code)
	assert.Equal(t, exitUsage, trainsim("calibrate", "--gpu", "b200-sxm-180gb", "--cluster", "dgx-a100", table).code)
	assert.Equal(t, exitInput, trainsim("calibrate", "--gpu", "no-such-gpu", table).code)
	few := write(t, "few.csv", "gpu_type,m,n,k,time_us\nx,1,1,1,1\n")
	r := trainsim("calibrate", "--gpu", "b200-sxm-180gb", few)
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, "too few measurements")
	none := write(t, "none.csv", "gpu_type,gpus,collective,size_bytes,time_us\n")
	r = trainsim("calibrate", "--cluster", "dgx-a100", none)
	assert.Equal(t, exitInput, r.code)
	assert.Contains(t, r.stderr, "too few measurements")
}
