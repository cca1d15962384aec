package nccl

import (
	"encoding/csv"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/sim"
)

// machines are the measured ones of testdata, by the names used there.
func machine(name string) (interconnect.Config, bool) {
	c := interconnect.Config{GPUsPerNode: 8, Kind: interconnect.NVSwitch, NVLinkEfficiency: 0.82, NVLinkBandwidth: 25e9, PCIeGen: 5, GPUsPerSwitch: 1, CPU: "intel-sapphire-rapids"}
	c.NICs, c.NICBandwidth, c.NICEfficiency = 8, 50e9, 0.95
	switch {
	case strings.HasPrefix(name, "A100"), name == "four-hdr-a100":
		c.ComputeCapability, c.NVLinks, c.PCIeGen, c.GPUsPerSwitch, c.CPU = 80, 12, 4, 2, "amd"
		c.NICs, c.NICBandwidth = 4, 25e9
	case strings.HasPrefix(name, "H100"), strings.HasPrefix(name, "H200"), name == "dgx-h100", name == "hgx-h200":
		c.ComputeCapability, c.NVLinks = 90, 18
	case name == "gcp-a3-mega":
		c.ComputeCapability, c.NVLinks, c.NICBandwidth = 90, 18, 25e9
	case strings.HasPrefix(name, "B200"), strings.HasPrefix(name, "B300"), name == "hgx-b200":
		c.ComputeCapability, c.NVLinks, c.NVLinkBandwidth = 100, 18, 50e9
	case strings.HasPrefix(name, "GB"):
		c.ComputeCapability, c.NVLinks, c.NVLinkBandwidth, c.GPUsPerNode, c.CPU = 100, 18, 50e9, 4, "arm"
	case name == "v100-pcie":
		c.Kind, c.ComputeCapability, c.PCIeGen, c.GPUsPerSwitch, c.GPUsPerUpperSwitch = interconnect.PCIe, 70, 3, 2, 4
	default:
		return c, false
	}
	return c, true
}

func readCSV(t *testing.T, name string) []map[string]string {
	f, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	var rows []map[string]string
	for _, record := range all[1:] {
		row := make(map[string]string)
		for i, column := range all[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return x
}

// predict returns the relative error of a measured row.
func predict(t *testing.T, c interconnect.Config, row map[string]string, s Settings) float64 {
	top, err := interconnect.Build(c)
	require.NoError(t, err)
	cm := first(t, top, int(number(t, row["gpus"])), s)
	var op Op
	require.NoError(t, op.UnmarshalText([]byte(row["collective"])))
	p := cm.Plan(op, int64(number(t, row["bytes"])))
	return p.Uncontended().Microseconds()/number(t, row["us"]) - 1
}

// median of absolute values.
func median(errs []float64) float64 {
	abs := make([]float64, len(errs))
	for i, e := range errs {
		abs[i] = max(e, -e)
	}
	sort.Float64s(abs)
	return abs[len(abs)/2]
}

// TestMeasuredOneNode holds every device and operation on NVLink machines to a
// median error of 7 % from 64 KiB up.
func TestMeasuredOneNode(t *testing.T) {
	errs := map[string][]float64{}
	for _, row := range readCSV(t, "nccl-tests.csv") {
		c, ok := machine(row["gpu"])
		if ok && number(t, row["bytes"]) >= 64<<10 {
			key := row["gpu"] + " " + row["collective"]
			errs[key] = append(errs[key], predict(t, c, row, Settings{}))
		}
	}
	require.Len(t, errs, 28)
	for key, e := range errs {
		assert.LessOrEqual(t, median(e), 0.07, "%s: %d rows", key, len(e))
	}
}

// TestMeasuredNodes holds healthy multi-node machines and a PCIe box to a
// median error of 8 % from 1 MiB up.
func TestMeasuredNodes(t *testing.T) {
	var errs []float64
	byMachine := map[string][]float64{}
	for _, row := range readCSV(t, "nccl-tests-nodes.csv") {
		c, ok := machine(row["machine"])
		require.True(t, ok, row["machine"])
		if number(t, row["bytes"]) < 1<<20 {
			continue
		}
		c.Nodes = int(number(t, row["nodes"]))
		s := Settings{}
		if row["algorithm"] != "" {
			s.Algo = []string{row["algorithm"]}
		}
		e := predict(t, c, row, s)
		errs = append(errs, e)
		byMachine[row["machine"]] = append(byMachine[row["machine"]], e)
	}
	assert.LessOrEqual(t, median(errs), 0.08, "%d rows", len(errs))
	for name, e := range byMachine {
		assert.LessOrEqual(t, median(e), 0.15, "%s: %d rows", name, len(e))
		t.Logf("%s: %d rows, %.3f", name, len(e), median(e))
	}
}

// TestUncontendedIsSimulated compares the closed form with the network.
func TestUncontendedIsSimulated(t *testing.T) {
	c, _ := machine("dgx-h100")
	c.Nodes = 2
	top, err := interconnect.Build(c)
	require.NoError(t, err)
	cm := first(t, top, 16, Settings{})
	for _, op := range Ops() {
		for _, bytes := range []int64{1, 1000, 1 << 20, 1 << 28} {
			p := cm.Plan(op, bytes)
			assert.Equal(t, p.Uncontended(), simulated(t, top, p), "%v %d", op, bytes)
			assert.Greater(t, p.Uncontended(), sim.Time(0))
		}
	}
}
