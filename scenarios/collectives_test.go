package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
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
	rows, err := ReadCollectives(strings.NewReader(collectivesTable), "dir/t.csv", "")
	require.NoError(t, err)
	require.Len(t, rows, 9)

	a := rows[0]
	assert.Equal(t, "t.csv:2", a.ID)
	assert.Equal(t, "A100-SXM4-80GB all_reduce", a.Family)
	assert.Equal(t, "a100-sxm4-80gb-8x", a.Cluster)
	assert.Equal(t, interconnect.AllReduce, a.Op)
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
	rows, err := ReadCollectives(strings.NewReader(collectivesTable), "t.csv", "")
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
	large, err := ReadCollectives(strings.NewReader(collectivesTable), "t.csv", "dgx-h100")
	require.NoError(t, err)
	_, err = comms.Predict(&large[7])
	assert.ErrorContains(t, err, "16 GPUs a node are more than the 8")
}

func TestOneClusterForAllCollectives(t *testing.T) {
	rows, err := ReadCollectives(strings.NewReader(collectivesTable), "t.csv", "dgx-a100")
	require.NoError(t, err)
	assert.Equal(t, "dgx-a100", rows[5].Cluster)
	assert.Empty(t, rows[5].Skipped)
	_, err = ReadCollectives(strings.NewReader("a,b\n"), "t.csv", "")
	assert.ErrorContains(t, err, "t.csv: is no table of collectives; write the columns gpu_type")
}

func TestGPUsByTheNamesOfTables(t *testing.T) {
	for name, want := range map[string]string{
		"A100-SXM4-80GB": "a100-sxm4-80gb", "H100 80GB HBM3": "h100-sxm5-80gb", "B200": "b200-sxm-180gb",
		"NVIDIA A100 PCIe": "a100-pcie-80gb", "h200": "h200-sxm-141gb", "L40S": "l40s-48gb", "GB200": "gb200-186gb",
		"A100 (SXM4-80GB per paper)": "a100-sxm4-80gb", "H100 (PCIe card)": "h100-pcie-80gb", "H100 (NVL)": "h100-nvl-94gb",
	} {
		d, err := FindGPU(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, d.Name)
	}
	for name, want := range map[string]string{
		"A100": `"A100" may be a100-pcie-80gb, a100-sxm4-40gb or a100-sxm4-80gb;`, "H100": "h100-sxm5-80gb",
		"A100 (type not stated)": "may be a100-pcie-80gb, ", "A100 (SXM4)": "may be a100-sxm4-40gb or a100-sxm4-80gb;",
		"MI210": `no gpu preset for "MI210"`, "": "no gpu preset",
	} {
		_, err := FindGPU(name)
		assert.ErrorContains(t, err, want)
	}
}

func TestClustersByTheWordsOfTables(t *testing.T) {
	tests := []struct {
		gpu, machine string
		nodes        int
		want         string
	}{
		{"H100-SXM-80GB", "NVLink4 + NVSwitch", 1, "h100-sxm5-80gb-8x"},
		{"H100-SXM", "8x400 Gb/s InfiniBand per node", 2, "dgx-h100"},
		{"H100-SXM", "GCP A3 Mega, GPUDirect-TCPXO", 2, "gcp-a3-mega"},
		{"H200-SXM (AWS p5en)", "NVLink4; EFA", 4, "aws-p5en"},
		{"V100-SXM-32GB", "Omni-Path between nodes", 4, "jeanzay-v100-32gb"},
		{"V100-SXM-32GB", "InfiniBand", 4, "dgx1-v100"},
		{"GB200", "NVLink5", 1, "gb200-186gb-4x"},
		{"GB200", "2 NVL72 racks + InfiniBand", 36, "dgx-gb200-nvl72"},
		{"B200", "8 cards of EFA", 4, "aws-p6-b200"},
		{"V100-PCIe-32GB", "PCIe gen3, no NVLink", 1, "v100-pcie-32gb-8x"},
		{"L40S", "PCIe gen4, no NVLink", 1, "l40s-8x"},
		{"H100", "NVLink4 + NVSwitch", 1, "h100-sxm5-80gb-8x"},
		{"H100", "NVLink4", 1, "h100-sxm5-80gb-8x"},
		{"H100", "", 1, "h100-sxm5-80gb-8x"},
		{"H100", "NVLink bridges", 1, "h100-nvl-8x"},
		{"H100", "PCIe gen5, no NVLink", 1, "h100-pcie-8x"},
		{"H100", "PCIe gen5", 1, "h100-pcie-8x"},
		{"H100 (PCIe)", "", 1, "h100-pcie-8x"},
		{"H100 (SXM5)", "8x400 Gb/s InfiniBand", 2, "dgx-h100"},
		{"A100", "NVLink3 + NVSwitch", 1, "a100-sxm4-40gb-8x"},
		{"A100", "PCIe, no NVLink", 1, "a100-pcie-8x"},
	}
	for _, test := range tests {
		got, err := FindCluster(test.gpu, test.machine, test.nodes, 0)
		require.NoError(t, err, test.gpu)
		assert.Equal(t, test.want, got)
	}
	_, err := FindCluster("H100 PCIe", "NVSwitch", 1, 0)
	assert.ErrorContains(t, err, "no cluster preset")
	_, err = FindCluster("L40S", "", 2, 0)
	assert.ErrorContains(t, err, `no cluster preset for 2 nodes of "L40S"`)
}

func ExampleReadCollectives() {
	table := "gpu_type,gpus,collective,size_bytes,time_us\nH100-SXM,8,all_reduce,1073741824,4500\n"
	rows, err := ReadCollectives(strings.NewReader(table), "nccl.csv", "")
	if err != nil {
		panic(err)
	}
	fmt.Println(rows[0].ID, rows[0].Op, rows[0].Cluster)
	// Output: nccl.csv:2 all-reduce h100-sxm5-80gb-8x
}

func FuzzReadCollectives(f *testing.F) {
	f.Add(collectivesTable)
	for _, words := range []string{"NVLink bridge pair (NV4)", "4x 99999999999999999999 Gb/s a node", "1e9 GB/s per node, PCIe gen3", "2 NVL72 racks", "across sockets, P2P off"} {
		f.Add("kind,gpu_type,gpus,nodes,interconnect,collective,size_bytes,time_us,busbw_gb_s\nmeasured,not stated,8,2,\"" + words + "\",all_reduce,,,40\n")
	}
	f.Fuzz(func(t *testing.T, table string) {
		rows, err := ReadCollectives(strings.NewReader(table), "fuzz.csv", "")
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
