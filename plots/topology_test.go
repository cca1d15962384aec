package plots

import (
	"bytes"
	"fmt"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/plots/chart"
)

// pairsChart is a node of four GPUs in two NVLink pairs with a card.
func pairsChart() TopologyChart {
	return TopologyChart{
		Devices: []string{"GPU0", "GPU1", "GPU2", "GPU3", "NIC0"}, GPUs: 4, Ring: []int{0, 1, 2, 3},
		Cells: [][]string{
			{"X", "NV4", "NODE", "NODE", "PIX"}, {"NV4", "X", "NODE", "NODE", "PIX"},
			{"NODE", "NODE", "X", "NV4", "SYS"}, {"NODE", "NODE", "NV4", "X", "SYS"}, {"PIX", "PIX", "SYS", "SYS", "X"},
		},
	}
}

func TestTopology(t *testing.T) {
	c := pairsChart()
	fig, err := Topology(c, chart.Options{Title: "four GPUs"})
	require.NoError(t, err)
	var first, second bytes.Buffer
	require.NoError(t, fig.Encode(&first, "png"))
	require.NoError(t, fig.Encode(&second, "png"))
	assert.Equal(t, first.Bytes(), second.Bytes())
	img, err := png.Decode(&first)
	require.NoError(t, err)
	assert.Equal(t, 1600, img.Bounds().Dx())
	seen := map[string]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			seen[fmt.Sprint(img.At(x, y))] = true
		}
	}
	for _, class := range []int{0, 1, 4, 5} {
		assert.True(t, seen[fmt.Sprint(pathStyles[class].color)], pathStyles[class].label)
	}
	assert.False(t, seen[fmt.Sprint(pathStyles[3].color)], "no host bridge in this node")
	assert.Len(t, c.legend(), 5)
}

func TestTopologyRefuses(t *testing.T) {
	for _, c := range []TopologyChart{
		{}, {Devices: []string{"GPU0"}, GPUs: 1}, {Devices: []string{"GPU0"}, GPUs: 2, Cells: [][]string{{"X"}}},
		{Devices: []string{"GPU0"}, GPUs: 1, Cells: [][]string{{"X", "X"}}},
		{Devices: []string{"GPU0"}, GPUs: 1, Cells: [][]string{{"X"}}, Ring: []int{1}},
	} {
		_, err := Topology(c, chart.Options{})
		assert.ErrorIs(t, err, errNoTopology)
	}
	_, err := Topology(TopologyChart{Devices: []string{"GPU0"}, GPUs: 1, Cells: [][]string{{"X"}}, Ring: []int{0}}, chart.Options{Width: 320, Height: 320})
	assert.NoError(t, err)
}
