package plots

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

func TestSizeInPixels(t *testing.T) {
	r, rep := outOfMemory()
	for _, o := range []chart.Options{{}, {Width: 321, Height: 777}, {Width: 2000, Height: 400}} {
		f, err := memory(runOf(r, rep), o)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, f.Encode(&b, "png"))
		img, err := png.DecodeConfig(&b)
		require.NoError(t, err)
		want := [2]int{1600, 900}
		if o.Width > 0 {
			want = [2]int{int(o.Width), int(o.Height)}
		}
		assert.Equal(t, want, [2]int{img.Width, img.Height})
	}
}

func TestTitlesSayTheScenario(t *testing.T) {
	type config struct{ Name string }
	for _, scenario := range []any{
		"s", config{"s"}, &config{"s"}, map[string]any{"name": "s"}, map[string]any{"Name": "s"},
	} {
		assert.Equal(t, "s: memory", titleOf(chart.Options{}, &report.Report{Scenario: scenario}, "memory"))
	}
	assert.Equal(t, "mine: memory", titleOf(chart.Options{Title: "mine"}, nil, "memory"))
	for _, none := range []any{nil, 7, map[string]any{"name": 7}, func() {}} {
		assert.Equal(t, "memory", titleOf(chart.Options{}, &report.Report{Scenario: none}, "memory"))
	}
}

// Where figures cannot be written, or as asked, is an error.
func TestWriteRunRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.png")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := WriteRun(path, runOf(nil, nil), small)
	assert.ErrorContains(t, err, path)
	for _, bad := range []chart.Options{{Width: -1}, {Height: 1e9}, {Width: 100}, {Format: "jpg"}} {
		_, err = WriteRun(t.TempDir(), runOf(nil, nil), bad)
		assert.Error(t, err)
	}
}
