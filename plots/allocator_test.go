package plots

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/plots/chart"
	"trainsim/sim/trace"
)

// twoSegments has two segments, half of the second idle.
func twoSegments() *trace.Recording {
	return &trace.Recording{Blocks: &trace.Blocks{Segments: [][]trace.Block{
		{{Bytes: 1 << 30, Kind: "weights"}, {Bytes: 1 << 30, Kind: "activations"}},
		{{Bytes: 1 << 29, Kind: "gradients"}, {Bytes: 3 << 29}},
	}}}
}

// Areas of colour are the shares of the bytes.
func TestAllocatorAreas(t *testing.T) {
	fig, err := allocator(runOf(twoSegments(), nil), chart.Options{})
	require.NoError(t, err)
	var first, second bytes.Buffer
	require.NoError(t, fig.Encode(&first, "png"))
	require.NoError(t, fig.Encode(&second, "png"))
	assert.Equal(t, first.Bytes(), second.Bytes())
	img, err := png.Decode(&first)
	require.NoError(t, err)
	count := map[string]float64{}
	for y := 120; y < img.Bounds().Dy(); y++ {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			for _, kind := range []string{"weights", "activations", "gradients"} {
				c := chart.MemoryColor(kind)
				if uint8(r>>8) == c.R && uint8(g>>8) == c.G && uint8(b>>8) == c.B {
					count[kind]++
				}
			}
		}
	}
	assert.InEpsilon(t, count["weights"], count["activations"], 0.05)
	assert.InEpsilon(t, count["weights"], 2*count["gradients"], 0.05)
}

func TestAllocatorWithoutSegments(t *testing.T) {
	_, err := allocator(runOf(&trace.Recording{}, nil), chart.Options{})
	assert.ErrorIs(t, err, errNoSegments)
	_, err = allocator(runOf(twoSegments(), nil), chart.Options{Width: 1})
	assert.Error(t, err)
}
