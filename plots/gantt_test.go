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

	"trainsim/sim"
	"trainsim/sim/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// record draws a figure on a canvas that keeps the calls.
func record(f *Figure) []recorder.Action {
	var c recorder.Canvas
	f.Draw(draw.NewCanvas(&c, f.width, f.height))
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
				out = append(out, filled{now, float64(p.X / dot), float64(p.Y / dot), float64(q.X / dot), float64(q.Y / dot)})
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
	f, err := Pipeline(r, rep, Options{Width: 800, Height: 450})
	require.NoError(t, err)
	actions := record(f)
	var b strings.Builder
	for _, x := range filledRects(actions) {
		fmt.Fprintf(&b, "fill %v %.1f,%.1f %.1f,%.1f\n", x.color, x.x0, x.y0, x.x1, x.y1)
	}
	for _, a := range actions {
		if s, ok := a.(*recorder.FillString); ok {
			fmt.Fprintf(&b, "text %.1f,%.1f %q\n", float64(s.Point.X/dot), float64(s.Point.Y/dot), s.String)
		}
	}
	goldenText(t, "pipeline-geometry.txt", b.String())
}

// Every box lies where its times say, to a dot, on the row of its rank.
func TestBoxesLieAtTheirTimes(t *testing.T) {
	y := synthetic{pp: 4, m: 8, tp: 2, forward: 10 * sim.Millisecond}
	r, rep := y.build()
	g, err := pipelineGantt(r)
	require.NoError(t, err)
	f, err := Pipeline(r, rep, Options{})
	require.NoError(t, err)
	rects := filledRects(record(f))

	var idle []filled // backgrounds: rows from the top
	for _, x := range rects {
		if x.color == idleGrey && x.x1-x.x0 > 1000 {
			idle = append(idle, x)
		}
	}
	require.Len(t, idle, 8) // four ranks and their data-parallel streams
	left, scale := idle[0].x0, (idle[0].x1-idle[0].x0)/g.end
	for i, row := range g.rows {
		for _, b := range row.boxes {
			if row.thin {
				continue
			}
			assert.True(t, slices.ContainsFunc(rects, func(x filled) bool {
				return x.color == KindColor(b.kind) && x.y0 == idle[i].y0 && x.y1 == idle[i].y1 &&
					math.Abs(x.x0-left-b.start*scale) <= 1.5 && math.Abs(x.x1+1-left-b.end*scale) <= 1.5
			}), "%+v", b)
		}
	}
	for i := range idle[1:] {
		assert.Less(t, idle[i+1].y1, idle[i].y0, "rows do not overlap, rank 0 on top")
	}
}

func TestMergeKeepsInk(t *testing.T) {
	rnd := sim.NewRand(7, "merge")
	x := func(v float64) vg.Length { return vg.Length(v) * dot }
	for range 50 {
		var boxes []box
		at, busyTime := 0.0, 0.0
		for at < 200 {
			at += rnd.Float64() * 0.5
			w := rnd.Float64() * math.Pow(10, 2*rnd.Float64()-2)
			boxes = append(boxes, box{at, at + w, trace.Kind(rnd.IntN(3)), -1, 0})
			at += w
			busyTime += w
		}
		out := merge(boxes, x)
		assert.LessOrEqual(t, len(out), 2*210)
		ink := 0.0
		for i, b := range out {
			assert.LessOrEqual(t, b.x0, b.x1)
			if i > 0 {
				assert.GreaterOrEqual(t, b.x0+1e-9, out[i-1].x0)
			}
			ink += float64((b.x1 - b.x0) / dot)
		}
		assert.InDelta(t, busyTime, ink, 0.5*at)
	}
}

// A million boxes become no more rectangles than there are dots.
func TestManyBoxesAreMerged(t *testing.T) {
	boxes := make([]box, 1_000_000)
	for i := range boxes {
		boxes[i] = box{float64(i), float64(i) + 0.9, trace.Kind(i % 2), -1, 0}
	}
	x := func(v float64) vg.Length { return vg.Length(v/1000) * dot }
	assert.LessOrEqual(t, len(merge(boxes, x)), 1001)
}

// What spread adds to columns is what the interval is long.
func TestSpreadConserves(t *testing.T) {
	rnd := sim.NewRand(3, "spread")
	for range 1000 {
		sums := make([]shares, 10)
		from := rnd.Float64() * 9
		to := from + rnd.Float64()*(10-from)
		spread(sums, trace.DP.Kind(), from, to)
		total := 0.0
		for _, s := range sums {
			assert.LessOrEqual(t, s[trace.DP.Kind()], 1+1e-9)
			total += s[trace.DP.Kind()]
		}
		assert.InDelta(t, to-from, total, 1e-9)
	}
}

func TestNumbersFitTheirBoxes(t *testing.T) {
	for _, m := range []int{8, 64, 400} {
		r, rep := synthetic{pp: 4, m: m, tp: 1, forward: sim.Millisecond}.build()
		f, err := Pipeline(r, rep, Options{})
		require.NoError(t, err)
		numbers := 0
		for _, a := range record(f) {
			if s, ok := a.(*recorder.FillString); ok && strings.Trim(s.String, "0123456789") == "" {
				numbers++
				assert.GreaterOrEqual(t, float64(s.Font.Size), float64(smallestNumber))
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

func TestOptimizerShowsWhatItWaitsFor(t *testing.T) {
	actions := []box{{0, 10, trace.Backward, 3, 0}, {10, 20, trace.Optimizer, -1, 0}}
	compute := []box{{16, 17, trace.Optimizer, -1, 0}, {17, 20, trace.Optimizer, -1, 0}}
	dp := []box{{8, 12, trace.DP.Kind(), -1, 0}, {12, 15, trace.DP.Kind(), -1, 0}}
	assert.Equal(t, []box{
		actions[0],
		{10, 12, trace.DP.Kind(), -1, 0}, {12, 15, trace.DP.Kind(), -1, 0},
		{16, 17, trace.Optimizer, -1, 0}, {17, 20, trace.Optimizer, -1, 0},
	}, detailed(actions, compute, dp))
	assert.Equal(t, actions, detailed(actions, nil, dp))
}

func TestPhases(t *testing.T) {
	y := synthetic{pp: 4, m: 8, tp: 1, forward: sim.Second}
	r, _ := y.build()
	var names []string
	var at float64
	for _, ph := range phasesOf(r, 0) {
		assert.Equal(t, at, ph.start)
		at = ph.end
		names = append(names, ph.name)
	}
	assert.Equal(t, []string{"warm-up", "steady state", "cool-down", "optimizer"}, names)
	assert.Equal(t, makespan(r).Seconds(), at)
	y.m = 1
	r, _ = y.build()
	assert.Equal(t, "forward", phasesOf(r, 0)[0].name)
	assert.Empty(t, phasesOf(r, 99))
}
