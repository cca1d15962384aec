package measured

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect/nccl"
)

// ncclOutput is what nccl-tests prints of a test on some ranks of two nodes, with
// made-up times.
func ncclOutput(columns string, rows ...string) string {
	var b strings.Builder
	b.WriteString("# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152\n#\n# Using devices\n")
	for rank := range 16 {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid  %d on node%d device %2d [0x0f] NVIDIA H100 80GB HBM3\n", rank,
			100+rank, rank/8, rank%8)
	}
	b.WriteString("#       size         count      type   " + columns + "\n#        (B)    (elements)\n")
	for _, r := range rows {
		b.WriteString(r + "\n")
	}
	return b.String() + "# Avg bus bandwidth    : 100\n"
}

const ncclReduceColumns = "redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"

func TestNCCLTestsOutput(t *testing.T) {
	text := ncclOutput(ncclReduceColumns,
		"     1048576        262144     float     sum      -1    80.00   13.1   24.6      0    79.0   13.2   24.8   "+
			"   0",
		"     2097152        524288     float     sum      -1    120.5   17.4   32.6      0    119.0   17.6   33.0  "+
			"    0")
	rows, err := ReadCollectives([]byte(text), "run/all_reduce_perf.out", "")
	require.NoError(t, err)
	require.Len(t, rows, 2)
	r := rows[1]
	assert.Equal(t, nccl.AllReduce, r.Op)
	assert.Equal(t, []any{"all_reduce_perf.out:23", int64(2 << 20), 16, 2, ""},
		[]any{r.ID, r.Bytes, r.Devices, r.Nodes, r.Skipped})

	assert.InDelta(t, 120.5e-6, r.Seconds, 1e-12)

	labelled := strings.ReplaceAll("# Collective test starting: alltoall_perf\n"+text, "\n", "\n0: ")
	rows, err = ReadCollectives([]byte("0: "+labelled), "slurm-17.out", "dgx-h100")
	require.NoError(t, err)
	require.Len(t, rows, 2, "as srun --label prints it, with the operation inside")
	assert.Equal(t, nccl.AllToAll, rows[0].Op)
	assert.Equal(t, "dgx-h100", rows[0].Cluster)

	rows, err = ReadCollectives([]byte(ncclOutput("root     time   algbw   busbw",
		" 1048576  262144  float  0  80.00  13.1  24.6")), "broadcast_perf", "")
	require.NoError(t, err)
	assert.InDelta(t, 80e-6, rows[0].Seconds, 1e-12, "without a column redop")
}

func TestNCCLTestsOutputThatLacksSomething(t *testing.T) {
	row := "     1048576        262144     float     sum      -1    80.00   13.1   24.6      0"
	_, err := ReadCollectives([]byte(ncclOutput(ncclReduceColumns, row)), "slurm-17.out", "")
	assert.ErrorContains(t, err,
		"slurm-17.out: does not say which operation was tested; name the file like the program")
	bare := "#       size         count      type   " + ncclReduceColumns + "\n" + row + "\n"
	_, err = ReadCollectives([]byte(bare), "all_reduce_perf.txt", "")
	assert.ErrorContains(t, err, "that name the GPUs")
}

func FuzzNCCLTests(f *testing.F) {
	f.Add(ncclOutput(ncclReduceColumns, "1048576 262144 float sum -1 80.00 13.1 24.6 0"), "all_gather_perf")
	f.Add("# size count type time\n1 2 \"x 3\n", "reduce_perf")
	f.Fuzz(func(t *testing.T, text, name string) {
		if !isNCCLTests([]byte(text)) {
			return
		}
		rows, err := ReadCollectives([]byte(text), name, "")
		if err == nil {
			assert.LessOrEqual(t, len(rows), strings.Count(text, "\n")+1)
		}
	})
}
