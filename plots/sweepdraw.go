package plots

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
)

// panel is one quantity of a sweep.
type panel struct {
	label string
	unit  chart.Unit
	top   float64
	of    func(*SweepPoint) float64
}

// drawPanels puts the quantities side by side; the memory is the last.
func (s *sweep) drawPanels(c draw.Canvas, t chart.Theme, panels []panel) {
	width := c.Size().X / vg.Length(len(panels))
	for i, panel := range panels {
		left := width * vg.Length(i)
		s.drawPanel(draw.Crop(c, left, left+width-t.Pt(20)-c.Size().X, 0, 0), t, panel, i == len(panels)-1)
	}
}

func (s *sweep) drawPanel(c draw.Canvas, t chart.Theme, panel panel, isMemory bool) {
	p := t.Axes(s.axis.name, panel.label)
	p.X.Label.TextStyle = t.Fit(14, false, s.axis.name, c.Size().X*0.8)
	p.X.Label.TextStyle.XAlign, p.X.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	p.X.Min, p.X.Max = s.axis.min, s.axis.max
	p.Y.Min, p.Y.Max = 0, max(panel.top, 1e-30)*1.08
	p.X.Tick.Marker = s.axis.ticks(t, c.Size().X*0.8)
	p.Y.Tick.Marker = chart.LinearTicks(p.Y.Max, panel.unit, 8)
	p.Add(t.Grid(false, true), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) {
		if isMemory && s.showsCapacity() {
			y := c.Y(p.Y.Norm(s.capacity))
			c.StrokeLine2(draw.LineStyle{Color: chart.CapacityColor, Width: t.Pt(2.5)}, c.Min.X, y, c.Max.X, y)
		}
		s.drawKnee(c, p, t)
		for i := range s.curves {
			s.drawCurve(c, p, t, panel, i)
		}
	}))
	p.Draw(c)
}

// drawKnee marks the knee of a single line across the panel.
func (s *sweep) drawKnee(c draw.Canvas, p *plot.Plot, t chart.Theme) {
	if len(s.curves) != 1 || s.curves[0].knee < 0 {
		return
	}
	x := c.X(p.X.Norm(s.axis.at[s.curves[0].points[s.curves[0].knee].X]))
	c.StrokeLine2(t.Dashes(chart.SoftInk), x, c.Min.Y, x, c.Max.Y)
}

func (s *sweep) drawCurve(c draw.Canvas, p *plot.Plot, t chart.Theme, panel panel, i int) {
	col := chart.SeriesColor(i)
	var line []vg.Point
	var shown []int
	for k := range s.curves[i].points {
		pt := &s.curves[i].points[k]
		if v := panel.of(pt); chart.Drawable(v) || v == 0 && panel.unit == chart.Percents &&
			chart.Drawable(pt.StepTime) {
			line = append(line, vg.Point{X: c.X(p.X.Norm(s.axis.at[pt.X])), Y: c.Y(p.Y.Norm(v))})
			shown = append(shown, k)
		}
	}
	if len(line) > 1 {
		c.StrokeLines(draw.LineStyle{Color: col, Width: t.Pt(2)}, line)
	}
	dense := len(s.axis.values) > denseAxis
	for k, at := range line {
		knee, full := shown[k] == s.curves[i].knee, !s.curves[i].points[shown[k]].Fits
		if !dense || knee || full || len(line) == 1 {
			t.Spot(c, at, col, full)
		}
		if knee {
			t.Ring(c, at)
		}
	}
}

// denseAxis is the number of values from which dots would hide the line.
const denseAxis = 40

// logSpan is the ratio of the ends from which an axis of numbers is logarithmic.
const logSpan = 8

// sweepAxis places the values of what is varied.
type sweepAxis struct {
	name     string
	values   []string // by growing place
	at       map[string]float64
	numbers  bool
	min, max float64
}

// newSweepAxis gives each value its place: its number, the logarithm of that,
// or its turn.
func newSweepAxis(name string, points []SweepPoint) sweepAxis {
	a := sweepAxis{name: name, at: map[string]float64{}, numbers: true}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		if _, ok := a.at[p.X]; ok {
			continue
		}
		x, err := strconv.ParseFloat(p.X, 64)
		a.numbers = a.numbers && err == nil && math.Abs(x) < 1e15
		a.at[p.X] = x
		a.values = append(a.values, p.X)
		low, high = min(low, x), max(high, x)
	}
	logs := a.numbers && low > 0 && high >= logSpan*low
	for i, v := range a.values {
		switch {
		case !a.numbers:
			a.at[v] = float64(i)
		case logs:
			a.at[v] = math.Log(a.at[v])
		}
	}
	slices.SortStableFunc(a.values, func(v, w string) int { return cmp.Compare(a.at[v], a.at[w]) })
	a.bounds()
	return a
}

// bounds leaves room at both ends.
func (a *sweepAxis) bounds() {
	if len(a.values) == 0 {
		a.min, a.max = 0, 1
		return
	}
	first, last := a.at[a.values[0]], a.at[a.values[len(a.values)-1]]
	margin := (last - first) * 0.08
	if !a.numbers || margin == 0 {
		margin = 0.5
	}
	a.min, a.max = first-margin, last+margin
}

// ticks labels as many values as there is room for.
func (a *sweepAxis) ticks(t chart.Theme, width vg.Length) plot.ConstantTicks {
	sty := t.Text(13)
	var out plot.ConstantTicks
	free := math.Inf(-1) // from where there is room again, in dots of the axis
	for _, v := range a.values {
		label := chart.Clip(sty, v, width/2)
		half := float64(sty.Width(label)/2 + t.Pt(4))
		x := (a.at[v] - a.min) / (a.max - a.min) * float64(width)
		tick := plot.Tick{Value: a.at[v]}
		if x-half >= free {
			tick.Label = label
			free = x + half
		}
		out = append(out, tick)
	}
	if len(out) > denseAxis { // unlabelled ticks would run together
		out = slices.DeleteFunc(out, func(k plot.Tick) bool { return k.Label == "" })
	}
	return out
}
