package measured

import (
	"fmt"
	"testing"

	"trainsim/interconnect/nccl"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const collectivesTable = `gpu_type,gpus,nodes,collective,size_bytes,time_us,algo_or_env
A100-SXM4-80GB,8,1,all_reduce,1073741824,8241.5,"default, single process"
H100-SXM,16,2,all_gather,268435456,900,NCCL_ALGO=RING
B200 (AWS p6-b200),7,1,all_reduce,17179869184,40000,NVLS disabled (Ring)
A100-SXM,4,1,all_reduce,,,P2P off
H100-SXM,8,1,all_reduce,1024,,
MI210,8,1,all_reduce,1024,10,
H100-SXM,9,2,all_reduce,1024,10,
H100-SXM,16,1,all_reduce,1024,10,
H100-SXM,8,1,all_dance,1024,10,
`

func TestCollectivesFindTheirMachines(t *testing.T) {
	rows, err := ReadCollectives([]byte(collectivesTable), "dir/t.csv", "")
	require.NoError(t, err)
	require.Len(t, rows, 9)

	a := rows[0]
	assert.Equal(t, "t.csv:2", a.ID)
	assert.Equal(t, "A100-SXM4-80GB all_reduce", a.Family)
	assert.Equal(t, "a100-sxm4-80gb-8x", a.Cluster)
	assert.Equal(t, nccl.AllReduce, a.Op)
	assert.Empty(t, a.Settings.Algo)
	assert.InDelta(t, 8241.5e-6, a.Seconds, 1e-12)

	assert.Equal(t, "dgx-h100", rows[1].Cluster)
	assert.Equal(t, []string{"ring"}, rows[1].Settings.Algo)
	assert.Equal(t, "aws-p6-b200", rows[2].Cluster)
	assert.Equal(t, []string{"Ring", "Tree"}, rows[2].Settings.Algo)

	for i, want := range map[int]string{
		3: "size_bytes: is empty", 4: "time_us: is empty", 5: `no cluster preset for 1 nodes of 8 "MI210"`,
		6: "9 GPUs do not spread evenly over 2 nodes", 8: `unknown collective "all_dance"`,
	} {
		assert.Contains(t, rows[i].Skipped, want)
	}
}

func TestCollectivesArePredicted(t *testing.T) {
	rows, err := ReadCollectives([]byte(collectivesTable), "t.csv", "")
	require.NoError(t, err)
	var comms Communicators
	for _, i := range []int{0, 1, 2} {
		took, err := comms.Predict(&rows[i])
		require.NoError(t, err)
		assert.Greater(t, took.Seconds(), 0.0)
	}
	took, err := comms.Predict(&rows[0])
	require.NoError(t, err)
	assert.InEpsilon(t, rows[0].Seconds, took.Seconds(), 0.15)
	_, err = comms.Predict(&rows[7])
	assert.ErrorContains(t, err, `no cluster preset for 1 nodes of 16 "H100-SXM"`)
	_, err = comms.Predict(&rows[5])
	assert.ErrorContains(t, err, "MI210")
	large, err := ReadCollectives([]byte(collectivesTable), "t.csv", "dgx-h100")
	require.NoError(t, err)
	_, err = comms.Predict(&large[7])
	assert.ErrorContains(t, err, "16 GPUs a node are more than the 8")
}

func TestOneClusterForAllCollectives(t *testing.T) {
	rows, err := ReadCollectives([]byte(collectivesTable), "t.csv", "dgx-a100")
	require.NoError(t, err)
	assert.Equal(t, "dgx-a100", rows[5].Cluster)
	assert.Empty(t, rows[5].Skipped)
	_, err = ReadCollectives([]byte("a,b\n"), "t.csv", "")
	assert.ErrorContains(t, err, "t.csv: is no table of collectives; write the columns gpu_type")
}

func ExampleReadCollectives() {
	table := "gpu_type,gpus,collective,size_bytes,time_us\nH100-SXM,8,all_reduce,1073741824,4500\n"
	rows, err := ReadCollectives([]byte(table), "nccl.csv", "")
	if err != nil {
		panic(err)
	}
	fmt.Println(rows[0].ID, rows[0].Op, rows[0].Cluster)
	// Output: nccl.csv:2 all-reduce h100-sxm5-80gb-8x
}

func FuzzReadCollectives(f *testing.F) {
	f.Add(collectivesTable)
	for _, words := range []string{"NVLink bridge pair (NV4)", "4x 99999999999999999999 Gb/s a node",
		"1e9 GB/s per node, PCIe gen3", "2 NVL72 racks", "across sockets, P2P off"} {
		f.Add("kind,gpu_type,gpus,nodes,interconnect,collective,size_bytes,time_us,busbw_gb_s\nmeasured,not " +
			"stated,8,2,\"" + words + "\",all_reduce,,,40\n")
	}
	f.Fuzz(func(t *testing.T, table string) {
		rows, err := ReadCollectives([]byte(table), "fuzz.csv", "")
		if err != nil {
			return
		}
		var comms Communicators
		for i := range rows {
			if r := &rows[i]; r.Skipped == "" && (r.Bytes <= 0 || r.Seconds <= 0 || r.Devices < 1) {
				t.Fatalf("row %d has nothing to predict: %+v", i, r)
			}
			if r := &rows[i]; r.Skipped == "" && r.Devices <= 1024 {
				if took, err := comms.Predict(r); err == nil && took < 0 {
					t.Fatalf("row %d takes %v", i, took)
				}
			}
		}
	})
}
