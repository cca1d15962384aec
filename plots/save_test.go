package plots

import (
	"bytes"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
)

func scatterFigure(t testing.TB) *Figure {
	t.Helper()
	f, err := Scatter(examplePoints(), "step time (s)", small)
	require.NoError(t, err)
	return f
}

func TestSaveByEnding(t *testing.T) {
	f := scatterFigure(t)
	dir := t.TempDir()
	for ending, magic := range map[string]string{"png": "\x89PNG", "SVG": "<?xml", "pdf": "%PDF"} {
		path := filepath.Join(dir, "f."+ending)
		require.NoError(t, f.Save(path))
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(data), magic), ending)
	}
	err := f.Save(filepath.Join(dir, "f.bmp"))
	assert.ErrorContains(t, err, `cannot write "bmp"; write png, svg or pdf`)
	assert.ErrorContains(t, err, "f.bmp")
	assert.Error(t, f.Encode(io.Discard, "gif"))
}

func TestSizeInPixels(t *testing.T) {
	r, rep := outOfMemory()
	for _, o := range []Options{{}, {Width: 321, Height: 777}, {Width: 2000, Height: 400}} {
		f, err := Memory(r, rep, o)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, f.Encode(&b, "png"))
		img, err := png.DecodeConfig(&b)
		require.NoError(t, err)
		want, err := o.resolve()
		require.NoError(t, err)
		assert.Equal(t, [2]int{int(want.Width), int(want.Height)}, [2]int{img.Width, img.Height})
	}
}

// A write that fails leaves what was there, and nothing else.
func TestFailedSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.png")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	full := errors.New("disk full")
	err := writeWhole(path, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 1<<20))
		require.NoError(t, err)
		return full
	})
	assert.ErrorIs(t, err, full)
	assert.ErrorContains(t, err, path)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(data))

	f := scatterFigure(t)
	assert.ErrorContains(t, f.Save(filepath.Join(dir, "missing", "f.png")), "missing")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d.png"), 0o755))
	assert.ErrorContains(t, f.Save(filepath.Join(dir, "d.png")), "d.png")
	_, err = WriteAll(path, nil, nil, small)
	assert.ErrorContains(t, err, path)
}

func TestOptions(t *testing.T) {
	o, err := Options{}.resolve()
	require.NoError(t, err)
	assert.Equal(t, Options{Width: 1600, Height: 900, Format: "png"}, o)
	for _, bad := range []Options{{Width: -1}, {Height: 1e9}, {Width: 100}, {Format: "jpg"}} {
		_, err := bad.resolve()
		assert.Error(t, err)
		_, err = WriteAll(t.TempDir(), nil, nil, bad)
		assert.Error(t, err)
	}
}

func TestTitlesSayTheScenario(t *testing.T) {
	type config struct{ Name string }
	for _, scenario := range []any{
		"s", config{"s"}, &config{"s"}, map[string]any{"name": "s"}, map[string]any{"Name": "s"},
	} {
		assert.Equal(t, "s: memory", Options{}.title(&report.Report{Scenario: scenario}, "memory"))
	}
	assert.Equal(t, "mine: memory", Options{Title: "mine"}.title(nil, "memory"))
	for _, none := range []any{nil, 7, map[string]any{"name": 7}, func() {}} {
		assert.Equal(t, "memory", Options{}.title(&report.Report{Scenario: none}, "memory"))
	}
}

func TestTicks(t *testing.T) {
	for _, max := range []float64{1e-12, 3.3e-7, 0.02, 1, 7.95, 1234, 1e12} {
		ticks := linearTicks(max, timeUnit(max), 10)
		assert.True(t, len(ticks) >= 5 && len(ticks) <= 21, "%g: %d ticks", max, len(ticks))
		assert.Equal(t, 0.0, ticks[0].Value)
		labels := map[string]bool{}
		for _, tick := range ticks {
			assert.LessOrEqual(t, tick.Value, max*(1+1e-9))
			assert.False(t, labels[tick.Label], tick.Label)
			labels[tick.Label] = true
		}
	}
	assert.Equal(t, "0", linearTicks(0, timeUnits[0], 5)[0].Label)
	assert.Equal(t, "1.02 s", seconds(1.02))
	assert.Equal(t, "30.0 ms", seconds(0.03))
	assert.Equal(t, "0 s", seconds(0))
	assert.Equal(t, "79.6 GiB", gibibytes(79.6*(1<<30)))
	assert.Equal(t, "5.0 MiB", gibibytes(5<<20))
	assert.NotEmpty(t, logTicks(1e-9, 1e9))
}
