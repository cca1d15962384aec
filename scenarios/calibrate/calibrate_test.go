package calibrate

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect/nccl"
	"trainsim/scenarios"
	"trainsim/scenarios/measured"
	"trainsim/sim/gpu"
)

// slowedKernels is a table of GEMMs that take a quarter longer than the preset
// of a device says.
func slowedKernels(d *gpu.Device) Table {
	var b strings.Builder
	b.WriteString("gpu_type,dtype,m,n,k,time_us\n")
	for _, m := range []int64{512, 1024, 2048, 4096, 8192} {
		for _, n := range []int64{1024, 4096, 12288} {
			k := gpu.Kernel{Kind: gpu.GEMM, Batch: 1, M: m, N: n, K: 4096, In: gpu.BF16, Out: gpu.BF16}
			fmt.Fprintf(&b, "my card,bf16,%d,%d,%d,%.3f\n", m, n, k.K, 1.25*d.TimeAlone(&k, 9).Microseconds())
		}
	}
	return Table{"dir/kernels.csv", []byte(b.String())}
}

func TestSlowKernelsAreFoundAgain(t *testing.T) {
	fit, err := GPU(context.Background(), "a100-sxm4-80gb", []Table{slowedKernels(preset(t, "a100-sxm4-80gb"))})
	require.NoError(t, err)
	assert.Equal(t, "a100-sxm4-80gb", fit.Name)
	assert.Equal(t, [2]int{15, 15}, [2]int{fit.Rows, fit.Fitted})
	assert.Contains(t, fit.Before, "20.0%")
	assert.NotEqual(t, fit.Before, fit.After)
	var b bytes.Buffer
	require.NoError(t, fit.Write(&b))
	assert.Contains(t, b.String(),
		"# The gpu preset a100-sxm4-80gb, fitted by trainsim calibrate to kernels.csv. Errors that remain:\n")
	assert.Contains(t, b.String(), "\npreset = \"a100-sxm4-80gb\"\n")
}

// Half of a cluster's rate is found again, from two tables together.
func TestSlowLinksAreFoundAgain(t *testing.T) {
	cluster, _, err := scenarios.LoadCluster("dgx-a100")
	require.NoError(t, err)
	slow := *cluster
	slow.NVLinkEfficiency = 0.4
	tables := make([]Table, 2)
	var comms measured.Communicators
	for i, mib := range []int64{64, 128, 256, 512, 1024, 2048} {
		c := measured.Collective{Cluster: "slow", Machine: &slow, Nodes: 1, Devices: 8, Op: nccl.AllReduce,
			Bytes: mib << 20}
		took, err := comms.Predict(&c)
		require.NoError(t, err)
		table := &tables[i%2]
		if i < 2 {
			*table = Table{fmt.Sprintf("%d.csv", i), []byte("gpu_type,gpus,collective,size_bytes,time_us\n")}
		}
		table.Text = fmt.Appendf(table.Text, "A100,8,all_reduce,%d,%.3f\n", c.Bytes, took.Microseconds())
	}
	fit, err := Cluster(context.Background(), "dgx-a100", tables)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, fit.Write(&b))
	var efficiency float64
	for line := range strings.Lines(b.String()) {
		if n, _ := fmt.Sscanf(line, "nvlink_efficiency = %f", &efficiency); n == 1 {
			break
		}
	}
	assert.InDelta(t, 0.4, efficiency, 0.02)
	assert.Contains(t, b.String(), "fitted by trainsim calibrate to 0.csv, 1.csv.")
}

func TestTablesToWhichNothingCanBeFitted(t *testing.T) {
	few := []Table{{"few.csv", []byte("gpu_type,m,n,k,time_us\nx,1,1,1,1\n")}}
	_, err := GPU(context.Background(), "b200-sxm-180gb", few)
	require.ErrorIs(t, err, errTooFewKernels)
	_, err = GPU(context.Background(), "no-such-gpu", few)
	require.ErrorContains(t, err, "no-such-gpu")
	_, err = Cluster(context.Background(), "dgx-a100", []Table{{"none.csv", []byte("gpu_type,gpus,collective,size_bytes,time_us\n")}})
	require.ErrorIs(t, err, errTooFewCollectives)
	_, err = Cluster(context.Background(), "dgx-a100", few)
	require.ErrorContains(t, err, "few.csv: is no table of collectives")
}

func ExampleGPU() {
	d, err := scenarios.LoadGPU("a100-sxm4-80gb")
	if err != nil {
		panic(err)
	}
	fit, err := GPU(context.Background(), "a100-sxm4-80gb", []Table{slowedKernels(d)})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s, fitted to %d of %d rows\n", fit.Name, fit.Fitted, fit.Rows)
	// Output: a100-sxm4-80gb, fitted to 15 of 15 rows
}
