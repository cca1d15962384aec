package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWriteGPU: a written preset has what differs from its base, and loads equal.
func TestWriteGPU(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.toml")
	for _, base := range []string{"h800-sxm5-80gb", file} {
		d, err := LoadGPU(base)
		require.NoError(t, err)
		d.GEMM.Tail += 0.25
		d.GEMM.Tiles[2].Efficiency *= 0.9
		d.Power.Patience *= 2
		d.Name = "mine"
		var b bytes.Buffer
		require.NoError(t, WriteGPU(&b, base, d, []string{"Ours."}))
		out := filepath.Join(t.TempDir(), "mine.toml")
		require.NoError(t, os.WriteFile(out, b.Bytes(), 0o644))
		again, err := LoadGPU(out)
		require.NoError(t, err, b.String())
		assert.Equal(t, d, again)
		assert.Regexp(t,
			`^# Ours\.\npreset = ".*"\n\n\[power\]\npatience = ".*"\n\n\[gemm\]\ntiles = .*\ntail = .*\n$`, b.String())
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
}
