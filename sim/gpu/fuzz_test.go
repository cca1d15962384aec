package gpu

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// No kernel, however odd, takes no or negative time.
func FuzzTime(f *testing.F) {
	f.Add(uint8(0), int64(1), int64(8192), int64(8192), int64(8192), uint8(1), uint8(2), true)
	f.Add(uint8(1), int64(4), int64(32), int64(4096), int64(128), uint8(0), uint8(3), true)
	f.Add(uint8(2), int64(-1), int64(1<<62), int64(0), int64(0), uint8(3), uint8(0), false)
	devices := presets(f)
	f.Fuzz(func(t *testing.T, kind uint8, a, b, c, e int64, enum, dtype uint8, flag bool) {
		k := Kernel{
			Kind: Kind(kind % 3), Batch: a, M: b, N: c, K: e, Heads: b, KVHeads: b, SeqQ: c, SeqK: c, HeadDim: e,
			Layout: Layout(enum % 3), Class: Class(enum % uint8(NumClasses)), In: Dtype(dtype % 5), Out: Dtype(dtype % 5),
			Accumulate: flag, Causal: flag, ReadBytes: a, WriteBytes: b, Launches: e,
		}
		d := devices[int(enum)%len(devices)]
		assert.Positive(t, d.Time(&k), "%+v", k)
		assert.Positive(t, d.TimeAlone(&k, int(enum)), "%+v", k)
		assert.Positive(t, d.TimeBeside(&k, Beside{SMs: int(enum), Traffic: sim.Bandwidth(enum) * 1e11}), "%+v", k)
	})
}

// Figures that are read are written so that they read back.
func FuzzDevice(f *testing.F) {
	for _, name := range []string{"a100-sxm4-80gb", "v100-sxm2-32gb"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "gpus", name+".toml"))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte("sms = \"x\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d, again Device
		if toml.Unmarshal(text, &d) != nil || d.Validate() != nil {
			return
		}
		var out bytes.Buffer
		require.NoError(t, toml.NewEncoder(&out).Encode(&d))
		assert.NoError(t, toml.Unmarshal(out.Bytes(), &again))
	})
}
