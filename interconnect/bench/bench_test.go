package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
)

func pairOfNodes(t *testing.T) *interconnect.Topology {
	top, err := interconnect.Build(interconnect.Config{
		Nodes: 2, GPUsPerNode: 4, Kind: interconnect.NVSwitch, ComputeCapability: 80, NVLinks: 12, NVLinkBandwidth: 25e9, NICs: 4, NICBandwidth: 25e9,
	})
	require.NoError(t, err)
	return top
}

// Two equal collectives on the same links take twice as long each; one on links
// of its own changes nothing.
func TestBeside(t *testing.T) {
	slower := func(others ...string) float64 {
		b, err := New(pairOfNodes(t), nccl.Settings{Model: "ideal"}, nccl.AllGather, 4)
		require.NoError(t, err)
		for _, text := range others {
			require.NoError(t, b.Beside(text))
		}
		table, err := b.Run(context.Background(), []int64{1 << 30})
		require.NoError(t, err)
		row := table.Rows[0]
		assert.Equal(t, 4, table.Ranks)
		assert.Equal(t, 2, table.Nodes)
		assert.InEpsilon(t, float64(row.Bytes)/row.Seconds, row.AlgBW, 1e-9)
		assert.InEpsilon(t, row.AlgBW*3/4, row.BusBW, 1e-9)
		require.NotNil(t, row.Alone)
		return row.Seconds / *row.Alone
	}
	assert.InDelta(t, 2, slower("all-gather:1G"), 1e-3)
	assert.InDelta(t, 3, slower("all-gather:1G", "all-gather:1G"), 1e-3)
	assert.InDelta(t, 1, slower("all-gather:1G@4-7"), 1e-9)
}

func TestParseSizes(t *testing.T) {
	sizes, err := ParseSizes("1K..6K")
	require.NoError(t, err)
	assert.Equal(t, []int64{1024, 2048, 4096}, sizes)
	sizes, err = ParseSizes("8, 3KiB,2G")
	require.NoError(t, err)
	assert.Equal(t, []int64{8, 3072, 2 << 30}, sizes)
	for _, bad := range []string{"", "K", "-1", "1..", "0", "1X", "99999999999999999999"} {
		_, err := ParseSizes(bad)
		assert.Error(t, err, bad)
	}
}

func TestParseRanks(t *testing.T) {
	ranks, err := parseRanks("0-3,8")
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 2, 3, 8}, ranks)
	for _, bad := range []string{"", "x", "3-1", "-1", "0-99999999"} {
		_, err := parseRanks(bad)
		assert.Error(t, err, bad)
	}
}
