package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"trainsim/plots/chart"
	"trainsim/sim"
	"trainsim/sim/report"
)

// written is a text with the rectangle that its digits and capitals fill.
type written struct {
	text           string
	size           float64
	x0, y0, x1, y1 vg.Length
}

// texts returns what a figure writes upright; axis labels that are turned lie
// inside a Push.
func texts(actions []recorder.Action) []written {
	var out []written
	depth := 0
	for _, a := range actions {
		switch a := a.(type) {
		case *recorder.Push:
			depth++
		case *recorder.Pop:
			depth--
		case *recorder.FillString:
			if depth == 0 {
				size := a.Font.Size
				w := draw.TextStyle{Font: a.Font, Handler: plot.DefaultTextHandler}.Width(a.String)
				out = append(out, written{a.String, float64(size), a.Point.X, a.Point.Y, a.Point.X + w, a.Point.Y + size*0.7})
			}
		}
	}
	return out
}

func (w written) overlaps(v written) bool {
	const slack = chart.Dot / 2
	return w.x0 < v.x1-slack && v.x0 < w.x1-slack && w.y0 < v.y1-slack && v.y0 < w.y1-slack
}

// thickLines returns the straight lines of two points and more, which mark
// capacities and may not cross text, as rectangles.
func thickLines(actions []recorder.Action) []written {
	var out []written
	var width vg.Length
	for _, a := range actions {
		switch a := a.(type) {
		case *recorder.SetLineWidth:
			width = a.Width
		case *recorder.Stroke:
			if len(a.Path) == 2 && width >= 2.4 {
				p, q := a.Path[0].Pos, a.Path[1].Pos
				out = append(out, written{text: "line", x0: p.X, x1: q.X, y0: p.Y - width/2, y1: p.Y + width/2})
			}
		}
	}
	return out
}

// checkLayout fails where text leaves the page or lies on other text or on a
// thick line.
func checkLayout(t *testing.T, name string, f *chart.Figure) {
	t.Helper()
	all := texts(record(f))
	require.NotEmpty(t, all, name)
	lines := thickLines(record(f))
	if strings.HasPrefix(name, "topology") { // its edges end under the discs that bear the names
		lines = nil
	}
	for i, w := range all {
		assert.True(t, w.x0 >= 0 && w.x1 <= f.Width && w.y0 >= 0 && w.y1 <= f.Height, "%s: %q is cut", name, w.text)
		for _, v := range append(lines, all[:i]...) {
			assert.False(t, w.overlaps(v), "%s: %q lies on %q", name, w.text, v.text)
		}
	}
}

func TestNothingIsCutOrOverlaps(t *testing.T) {
	long := strings.Repeat("a-very-long-scenario-name-", 12)
	for _, o := range []chart.Options{{}, {Title: long}, {Width: 800, Height: 800}, {Width: 640, Height: 360}, {Width: 2400, Height: 900}} {
		for name, f := range everyFigure(t, o) {
			checkLayout(t, fmt.Sprintf("%s %gx%g", name, o.Width, o.Height), f)
		}
	}
}

func TestLayoutOfManyStages(t *testing.T) {
	for _, pp := range []int{1, 2, 16, 64, 256} {
		r, rep := synthetic{pp: pp, m: 4, tp: 8, forward: 200 * sim.Microsecond, links: 3}.build()
		for _, f := range Registry(OfRun) {
			fig, err := f.Draw(&Data{Run: runOf(r, rep)}, chart.Options{})
			require.NoError(t, err)
			checkLayout(t, fmt.Sprintf("%s of %d stages", f.Name, pp), fig)
		}
	}
}

// Where bars are too narrow for words, the sizes of those that do not fit are
// still there.
func TestNarrowBarsThatDoNotFitAreLabelled(t *testing.T) {
	_, rep := synthetic{pp: 16, m: 4, tp: 1, forward: sim.Millisecond}.build()
	for i := range rep.MemoryPerStage {
		rep.MemoryPerStage[i].NvidiaSMI = 85 << 30
		rep.MemoryPerStage[i].Capacity, rep.MemoryPerStage[i].Fits = 80<<30, false
	}
	f, err := memoryStages(runOf(nil, rep), chart.Options{})
	require.NoError(t, err)
	checkLayout(t, "narrow bars", f)
	n := 0
	for _, w := range texts(record(f)) {
		if w.text == "85.0 GiB" {
			n++
		}
	}
	assert.Equal(t, 16, n)
}

// The subtitle and the report state one peak, also where it lasts no time.
func TestMemoryStatesTheReportsPeak(t *testing.T) {
	r, rep := synthetic{pp: 1, m: 2, tp: 1, forward: sim.Millisecond}.build()
	rep.MemoryPerStage[0].PeakAllocated = 400 << 30
	rep.MemoryPerStage[0].PeakReserved = 401 << 30
	rep.MemoryPerStage[0].NvidiaSMI = 403 << 30
	f, err := memory(runOf(r, rep), chart.Options{})
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(texts(record(f)), func(w written) bool { return strings.Contains(w.text, "peak 402.0 GiB") }))
}

func TestTooManyStagesIsAnError(t *testing.T) {
	r, rep := synthetic{pp: 257, m: 1, tp: 1, forward: sim.Second}.build()
	_, err := pipeline(runOf(r, rep), small)
	assert.ErrorContains(t, err, "257 stages")
	_, err = breakdown(runOf(nil, rep), small)
	assert.ErrorContains(t, err, "257 stages")
	_, err = memoryStages(runOf(nil, rep), small)
	assert.ErrorContains(t, err, "257 stages")
	_, err = compare(make([]report.Case, 41), small)
	assert.ErrorContains(t, err, "41 scenarios")
}

// On a slide nothing is smaller than a micro-batch number.
func TestTextIsLegible(t *testing.T) {
	for name, f := range everyFigure(t, chart.Options{}) {
		for _, w := range texts(record(f)) {
			assert.GreaterOrEqual(t, w.size, float64(legible), "%s: %q", name, w.text)
		}
	}
}

// What cannot be drawn on finite axes does not reach them.
func TestStrangeReports(t *testing.T) {
	strange := []float64{0, -1, 1e308, math.Inf(1), math.NaN(), 1e-300}
	for _, v := range strange {
		rep := &report.Report{StepTime: v, MFU: v, Bubble: report.Bubble{OverTotal: v},
			TimePerStage:   []report.StageTime{{Compute: v, Bubble: 1, Step: v}, {Compute: 1, Step: 1}},
			MemoryPerStage: []report.StageMemory{{NvidiaSMI: math.MinInt64, Capacity: math.MaxInt64, AtPeak: report.AtPeak{Weights: math.MaxInt64, Gradients: -5}}},
			Links:          []report.Link{{Name: "l", Utilisation: v}, {Name: "m", Utilisation: 0.5}},
			OOM:            &report.OOM{At: v}}
		r, _ := synthetic{pp: 2, m: 2, tp: 1, forward: sim.Second}.build()
		for _, f := range Registry(OfRun) {
			fig, err := f.Draw(&Data{Run: runOf(r, rep)}, small)
			if err == nil {
				record(fig)
			}
		}
		fig, err := compare([]report.Case{{Name: "x", Run: report.Run{Report: rep}}}, small)
		if err == nil {
			record(fig)
		}
		_, err = drawSweep(SweepChart{Axis: "x", Points: []SweepPoint{{X: "1", StepTime: v, Bubble: v, PeakMemory: v}, {X: "2", StepTime: 1}}, Capacity: v}, small)
		assert.NoError(t, err)
	}
}
