package nccl

import (
	"encoding/json"
	"os"
	"testing"

	"trainsim/sim/gpu/generation"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vector is one machine of testdata/nccl-vectors.json: NCCL 2.30.7's tuning
// tables and choices.
type vector struct {
	Name   string
	Inputs struct {
		Ranks  int    `json:"nranks"`
		Nodes  int    `json:"nnodes"`
		Gen    string `json:"gen"`
		CPU    string `json:"cpu"`
		Ch     int    `json:"ch"`
		Graphs map[string]struct {
			Channels int     `json:"nch"`
			Intra    float64 `json:"intra"`
			Inter    float64 `json:"inter"`
			NVL      bool    `json:"nvl"`
		}
	}
	Colls map[string]struct {
		Table  map[string]map[string][2]float64 `json:"table_lat_us_algbw_GBs"`
		Choice [][4]any
	}
}

func loadVectors(t *testing.T) []vector {
	text, err := os.ReadFile("testdata/nccl-vectors.json")
	require.NoError(t, err)
	var vs []vector
	require.NoError(t, json.Unmarshal(text, &vs))
	require.NotEmpty(t, vs)
	return vs
}

func (v *vector) tuner(t *testing.T) *tuner {
	cc := map[string]int{"volta": 70, "ampere": 80, "hopper": 90, "blackwell": 100}[v.Inputs.Gen]
	require.NotZero(t, cc)
	tn := &tuner{
		ranks: v.Inputs.Ranks, nodes: v.Inputs.Nodes, gen: generation.Of(cc), amd: v.Inputs.CPU == "amd", x86: true,
		channels: v.Inputs.Ch, ll128: true,
	}
	for name, g := range v.Inputs.Graphs {
		a, err := ParseAlgorithm(name)
		require.NoError(t, err)
		tn.graphs[a] = graph{channels: g.Channels, intra: g.Intra, inter: g.Inter, nvlink: g.NVL, sameChannels: true}
		tn.ll128 = tn.ll128 && g.NVL
	}
	return tn
}

var vectorOps = map[string]Op{
	"AllReduce": AllReduce, "AllGather": AllGather, "ReduceScatter": ReduceScatter, "Broadcast": Broadcast, "Reduce": Reduce,
}

func TestTunerTables(t *testing.T) {
	for _, v := range loadVectors(t) {
		tn := v.tuner(t)
		for name, c := range v.Colls {
			op, ok := vectorOps[name]
			require.True(t, ok, name)
			for a := range numAlgorithms {
				for p := range numProtocols {
					got := tn.cell(op, a, p)
					if !tn.allows(op, a, p) {
						got = estimate{}
					}
					want := c.Table[a.String()][p.String()]
					if want[1] == 0 {
						assert.Zero(t, got.bw, "%s %s %v %v", v.Name, name, a, p)
						continue
					}
					assert.InEpsilon(t, want[0], got.lat, 1e-3, "%s %s %v %v latency", v.Name, name, a, p)
					assert.InEpsilon(t, want[1], got.bw, 1e-3, "%s %s %v %v bandwidth", v.Name, name, a, p)
				}
			}
		}
	}
}

func TestTunerChoices(t *testing.T) {
	for _, v := range loadVectors(t) {
		tn := v.tuner(t)
		for name, c := range v.Colls {
			for _, row := range c.Choice {
				got, ok := tn.choose(vectorOps[name], int64(row[0].(float64)))
				require.True(t, ok)
				assert.Equal(t, row[1], got.algorithm.String(), "%s %s %v", v.Name, name, row[0])
				assert.Equal(t, row[2], got.protocol.String(), "%s %s %v", v.Name, name, row[0])
				assert.InEpsilon(t, row[3], got.micros, 1e-3, "%s %s %v", v.Name, name, row[0])
			}
		}
	}
}
