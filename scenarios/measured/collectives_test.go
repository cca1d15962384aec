package measured

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect/nccl"
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

// Parts of NVL72 racks that only InfiniBand joins; the figures of nccl#1801.
func TestPartsOfRacks(t *testing.T) {
	const table = "gpu_type,gpus,nodes,interconnect,collective,algo_or_env,size_bytes,time_us\n" +
		"GB200,12,3,\"NVL4 partitions, InfiniBand\",all_reduce,Ring,17179869184,159983\n" +
		"GB200,24,6,\"NVL8 partitions, InfiniBand\",all_reduce,Ring,17179869184,83650\n"
	rows, err := ReadCollectives([]byte(table), "t.csv", "")
	require.NoError(t, err)
	var comms Communicators
	for i := range rows {
		took, err := comms.Predict(&rows[i])
		require.NoError(t, err)
		assert.InEpsilon(t, rows[i].Seconds, took.Seconds(), 0.05, "row %d", i)
	}
}

// A peak without a size is compared at a large message; a statement is not.
func TestPeaksAndStatements(t *testing.T) {
	const table = "kind,gpu_type,gpus,nodes,interconnect,collective,dtype,size_bytes,time_us,busbw_gb_s\n" +
		"measured,V100-PCIe-32GB,4,1,\"PCIe gen3, no NVLink\",all_reduce,float32,,,9.4\n" +
		"measured (statement),H100-SXM,8,1,NVSwitch,all_reduce,,,,370\n" +
		"measured,H200-SXM,16,2,InfiniBand,all_reduce,fp8e4m3,10737418240,55722.7,\n" +
		"measured,GB200,72,1,NVL72,all_reduce,float32,8589934592,20299,\n" +
		"measured,V100-PCIe-32GB,2,1,P2P off,all_reduce,float32,1024,10,\n"
	rows, err := ReadCollectives([]byte(table), "t.csv", "")
	require.NoError(t, err)
	assert.True(t, rows[0].Peak)
	assert.EqualValues(t, peakBytes, rows[0].Bytes)
	assert.InEpsilon(t, 1.5*peakBytes/9.4e9, rows[0].Seconds, 1e-9)
	assert.Contains(t, rows[1].Skipped, "kind: is a statement without a size")
	assert.Zero(t, rows[1].Seconds)
	assert.Equal(t, []string{"Ring", "Tree"}, rows[2].Settings.Algo, "NVLink SHARP adds no FP8 on Hopper")
	assert.Equal(t, "dgx-gb200-nvl72", rows[3].Cluster)
	assert.True(t, rows[4].Settings.P2PDisable)
	var comms Communicators
	for _, i := range []int{0, 2, 3} {
		took, err := comms.Predict(&rows[i])
		require.NoError(t, err)
		assert.InEpsilon(t, rows[i].Seconds, took.Seconds(), 0.08, "row %d", i)
	}
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
