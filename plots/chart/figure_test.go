package chart

import (
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

// A figure is written beside others or into a new folder, never over a folder.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	f := someFigure(t)
	for _, name := range []string{"f.png", "new/f.PDF", "f.png"} {
		require.NoError(t, f.Save(filepath.Join(dir, name)))
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d.png"), 0o755))
	assert.ErrorContains(t, f.Save(filepath.Join(dir, "d.png")), "d.png is a directory")
	assert.ErrorContains(t, f.Save(filepath.Join(dir, "f.png", "f.png")), "plots: cannot write ")
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
