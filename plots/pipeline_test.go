package plots

import (
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"trainsim/plots/chart"
	"trainsim/plots/gantt"
	"trainsim/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// legible is the smallest size of text on a slide, in points.
const legible = 8

// record draws a figure on a canvas that keeps the calls.
func record(f *chart.Figure) []recorder.Action {
	var c recorder.Canvas
	f.Draw(draw.NewCanvas(&c, f.Width, f.Height))
	return c.Actions
}

// filled is a filled rectangle, in dots from the bottom left.
type filled struct {
	color          color.Color
	x0, y0, x1, y1 float64
}

func filledRects(actions []recorder.Action) []filled {
	var out []filled
	var now color.Color
	for _, a := range actions {
		switch a := a.(type) {
		case *recorder.SetColor:
			now = a.Color
		case *recorder.Fill:
			if len(a.Path) == 5 && a.Path[2].Type == vg.LineComp {
				p, q := a.Path[0].Pos, a.Path[2].Pos
				out = append(out, filled{now, float64(p.X / chart.Dot), float64(p.Y / chart.Dot), float64(q.X / chart.Dot), float64(q.Y / chart.Dot)})
			}
		}
	}
	return out
}

func goldenText(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// The geometry of a small pipeline: every rectangle and every text.
func TestPipelineGeometry(t *testing.T) {
	r, rep := synthetic{pp: 3, m: 4, tp: 1, forward: sim.Millisecond}.build()
	f, err := pipeline(runOf(r, rep), chart.Options{Width: 800, Height: 450})
	require.NoError(t, err)
	actions := record(f)
	var b strings.Builder
	for _, x := range filledRects(actions) {
		fmt.Fprintf(&b, "fill %v %.1f,%.1f %.1f,%.1f\n", x.color, x.x0, x.y0, x.x1, x.y1)
	}
	for _, a := range actions {
		if s, ok := a.(*recorder.FillString); ok {
			fmt.Fprintf(&b, "text %.1f,%.1f %q\n", float64(s.Point.X/chart.Dot), float64(s.Point.Y/chart.Dot), s.String)
		}
	}
	goldenText(t, "pipeline-geometry.txt", b.String())
}

// Every box lies where its times say, to a dot, on the row of its rank.
func TestBoxesLieAtTheirTimes(t *testing.T) {
	y := synthetic{pp: 4, m: 8, tp: 2, forward: 10 * sim.Millisecond}
	r, rep := y.build()
	g, err := gantt.Pipeline(r)
	require.NoError(t, err)
	f, err := pipeline(runOf(r, rep), chart.Options{})
	require.NoError(t, err)
	rects := filledRects(record(f))

	var idle []filled // backgrounds: rows from the top
	for _, x := range rects {
		if x.color == chart.IdleGrey && x.x1-x.x0 > 1000 {
			idle = append(idle, x)
		}
	}
	require.Len(t, idle, 8) // four ranks and their data-parallel streams
	left, scale := idle[0].x0, (idle[0].x1-idle[0].x0)/g.End
	for i, row := range g.Rows {
		for _, b := range row.Boxes {
			if row.Thin {
				continue
			}
			assert.True(t, slices.ContainsFunc(rects, func(x filled) bool {
				return x.color == chart.KindColor(b.Kind) && x.y0 == idle[i].y0 && x.y1 == idle[i].y1 &&
					math.Abs(x.x0-left-b.Start*scale) <= 1.5 && math.Abs(x.x1+1-left-b.End*scale) <= 1.5
			}), "%+v", b)
		}
	}
	for i := range idle[1:] {
		assert.Less(t, idle[i+1].y1, idle[i].y0, "rows do not overlap, rank 0 on top")
	}
}

func TestNumbersFitTheirBoxes(t *testing.T) {
	for _, m := range []int{8, 64, 400} {
		r, rep := synthetic{pp: 4, m: m, tp: 1, forward: sim.Millisecond}.build()
		f, err := pipeline(runOf(r, rep), chart.Options{})
		require.NoError(t, err)
		numbers := 0
		for _, a := range record(f) {
			if s, ok := a.(*recorder.FillString); ok && strings.Trim(s.String, "0123456789") == "" {
				numbers++
				assert.GreaterOrEqual(t, float64(s.Font.Size), float64(legible))
			}
		}
		if m == 8 {
			assert.Greater(t, numbers, 4*2*m, "all numbers and the ticks")
		}
		if m == 400 {
			assert.Less(t, numbers, 20, "only the ticks")
		}
	}
}
