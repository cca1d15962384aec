package chart

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg/draw"
)

// someFigure has a legend and a box.
func someFigure(t testing.TB) *Figure {
	t.Helper()
	f, err := New(Options{Width: 960, Height: 540}, Page{Title: "some", Legend: []LegendEntry{{Label: "box", Color: Blue}},
		Body: func(c draw.Canvas, _ Theme) { FillRect(c, Blue, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }})
	require.NoError(t, err)
	return f
}

func TestSaveByEnding(t *testing.T) {
	f := someFigure(t)
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

	f := someFigure(t)
	assert.ErrorContains(t, f.Save(filepath.Join(dir, "missing", "f.png")), "missing")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d.png"), 0o755))
	assert.ErrorContains(t, f.Save(filepath.Join(dir, "d.png")), "d.png")
}

func TestOptions(t *testing.T) {
	o, err := Options{}.Resolve()
	require.NoError(t, err)
	assert.Equal(t, Options{Width: 1600, Height: 900, Format: "png"}, o)
	for _, bad := range []Options{{Width: -1}, {Height: 1e9}, {Width: 100}, {Format: "jpg"}} {
		_, err := bad.Resolve()
		assert.Error(t, err)
		_, err = New(bad, Page{})
		assert.Error(t, err)
	}
}
