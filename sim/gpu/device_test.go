package gpu

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// preset reads one of the shipped presets, over the one on which it stands.
func preset(t testing.TB, name string) *Device {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "gpus", name+".toml"))
	require.NoError(t, err)
	d := &Device{}
	if base := regexp.MustCompile(`(?m)^preset = "(.*)"$`).FindSubmatch(text); base != nil {
		d = preset(t, string(base[1]))
	}
	require.NoError(t, toml.Unmarshal(text, d))
	require.NoError(t, d.Validate())
	d.Name = name
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

func TestPresetsRoundTrip(t *testing.T) {
	all := presets(t)
	assert.NotEmpty(t, all)
	for _, d := range all {
		var buf bytes.Buffer
		require.NoError(t, toml.NewEncoder(&buf).Encode(d), d.Name)
		again := &Device{Name: d.Name}
		require.NoError(t, toml.Unmarshal(buf.Bytes(), again), d.Name)
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

func TestImpossibleFiguresAreNamed(t *testing.T) {
	d := preset(t, "h100-sxm5-80gb")
	d.SMs, d.GEMM.Tail, d.Attention.Forward.Rows, d.Streaming.Copy, d.Power.Exponent = 0, 2, 0, 1.5, 0.5
	d.GEMM.Tiles[1].Efficiency = 0
	err := d.Validate()
	for _, key := range []string{"sms: is 0", "gemm.tail: is 2", "attention.forward.block_rows", "streaming.copy", "power.exponent", "gemm.tiles[1].efficiency"} {
		assert.ErrorContains(t, err, key)
	}
	d.GEMM.Tiles = nil
	assert.ErrorContains(t, d.Validate(), "gemm.tiles: is empty")
}
