package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim/input"
)

// seed adds the text of every file that matches a pattern.
func seed(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
}

// FuzzLoad: no text makes the loader panic, an error is always an *Errors with
// something in it, and what is accepted is written out and read back equal.
func FuzzLoad(f *testing.F) {
	seed(f, "*.toml")
	seed(f, "testdata/bad/*.toml")
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := LoadReader(bytes.NewReader(text), "fuzz.toml", nil)
		if err != nil {
			var all *input.Errors
			require.ErrorAs(t, err, &all)
			require.NotEmpty(t, all.Problems)
			require.NotEmpty(t, err.Error())
			return
		}
		var b bytes.Buffer
		require.NoError(t, Write(&b, cfg))
		again, err := LoadReader(bytes.NewReader(b.Bytes()), "again.toml", nil)
		require.NoError(t, err, b.String())
		require.Equal(t, cfg, again, b.String())
	})
}

// FuzzSet: no override makes the loader panic.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"parallel.tp=2", "model=3", "schedule.chunks=4", "a.b.c.d=[1, {x = 2}]", "=",
		"parallel.dp=", "model.preset=\"gpt2-xl\"", "gpu.gemm.tiles=[]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, set string) {
		if _, err := LoadWith("70b-tp4-pp2", []string{set}); err != nil {
			require.NotEmpty(t, err.Error())
		}
	})
}
