package gpu

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// preset reads one of the shipped presets.
func preset(t testing.TB, name string) *Device {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "scenarios", "gpus", name+".toml"))
	require.NoError(t, err)
	defer f.Close()
	d, err := Decode(name, f)
	require.NoError(t, err)
	return d
}

// presets reads all shipped presets in the order of their names.
func presets(t testing.TB) []*Device {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "scenarios", "gpus", "*.toml"))
	require.NoError(t, err)
	var all []*Device
	for _, f := range files {
		all = append(all, preset(t, strings.TrimSuffix(filepath.Base(f), ".toml")))
	}
	return all
}

func TestPresetsDecodeAndRoundTrip(t *testing.T) {
	all := presets(t)
	assert.Len(t, all, 17)
	for _, d := range all {
		var buf bytes.Buffer
		require.NoError(t, d.Encode(&buf), d.Name)
		again, err := Decode(d.Name, &buf)
		require.NoError(t, err, d.Name)
		assert.Equal(t, d, again, d.Name)
	}
}

func TestNoKernelBeatsTheRoofline(t *testing.T) {
	for _, d := range presets(t) {
		for _, k := range []Kernel{
			{Kind: GEMM, M: 8192, N: 8192, K: 8192, In: FP16, Out: FP16},
			{Kind: Attention, Batch: 4, Heads: 32, KVHeads: 8, SeqQ: 4096, SeqK: 4096, HeadDim: 128, Causal: true, In: FP16},
			{Kind: Memory, ReadBytes: 1 << 30, WriteBytes: 1 << 30},
		} {
			least := k.FLOPs()/d.Peak(k.In) + float64(k.ReadBytes+k.WriteBytes)/float64(d.MemoryBandwidth)
			assert.GreaterOrEqual(t, d.Time(&k), sim.FromSeconds(least), d.Name)
		}
	}
}
