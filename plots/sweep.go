package plots

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// SweepPoint is one run of a sweep.
type SweepPoint struct {
	X      string // value of what varies along the axis, as written
	Series string // values of everything else that varies; may be empty
	// StepTime is in seconds, Bubble a share of the step, PeakMemory in bytes
	// as nvidia-smi shows it. What is not positive and finite is not drawn,
	// save a bubble of 0.
	StepTime, Bubble, PeakMemory float64
	Fits                         bool // hollow marks for what does not fit
}

var errNoSweep = errors.New("plots: the sweep has no point to draw")

// maxSweep bounds what a figure can label.
const maxSweep = 10000

// Sweep draws step time, bubble and peak memory over what was varied, one
// panel each over the values of X in the order of appearance, with a line a
// series. Axis names what X is, "schedule.microbatches" for example; capacity
// (bytes, 0 if unknown) is drawn with the memory.
func Sweep(axis string, points []SweepPoint, capacity float64, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if len(points) > maxSweep {
		points = points[:maxSweep]
	}
	s := newSweep(axis, points, capacity)
	if !(s.steps > 0) && !(s.memory > 0) {
		return nil, errNoSweep
	}
	title := o.Title
	if title == "" {
		title = "sweep of " + axis
	}
	return newFigure(o, page{title: title, subtitle: s.facts(), legend: s.legend(), body: s.body}), nil
}

type sweep struct {
	axis          string
	points        []SweepPoint
	xs, names     []string
	capacity      float64
	steps, memory float64 // largest
	bubble        float64
	hollow        bool
}

func newSweep(axis string, points []SweepPoint, capacity float64) *sweep {
	s := &sweep{axis: axis, points: points, capacity: capacity}
	for _, p := range points {
		if !slices.Contains(s.xs, p.X) {
			s.xs = append(s.xs, p.X)
		}
		if !slices.Contains(s.names, p.Series) {
			s.names = append(s.names, p.Series)
		}
		if drawable(p.StepTime) {
			s.steps = max(s.steps, p.StepTime)
		}
		if drawable(p.PeakMemory) {
			s.memory = max(s.memory, p.PeakMemory)
		}
		if drawable(p.Bubble) {
			s.bubble = max(s.bubble, p.Bubble)
		}
		s.hollow = s.hollow || !p.Fits
	}
	return s
}

func (s *sweep) facts() string {
	best := -1
	for i, p := range s.points {
		if p.Fits && drawable(p.StepTime) && (best < 0 || p.StepTime < s.points[best].StepTime) {
			best = i
		}
	}
	if best < 0 {
		return "no run fits in memory"
	}
	p := s.points[best]
	return facts("shortest step that fits: "+seconds(p.StepTime)+" at "+p.X, p.Series)
}

func (s *sweep) legend() []entry {
	var out []entry
	for i, n := range s.names {
		if n != "" {
			out = append(out, entry{label: n, color: series[i%len(series)], mark: markDot})
		}
	}
	if s.hollow {
		out = append(out, entry{label: "does not fit in memory", color: ink, mark: markRing})
	}
	if s.showsCapacity() {
		out = append(out, entry{label: "capacity of the GPU", color: capacityColor, mark: markLine})
	}
	return out
}

func (s *sweep) showsCapacity() bool {
	return drawable(s.capacity) && s.memory > 0 && s.capacity <= 5*s.memory
}

// panel is one quantity of a sweep.
type panel struct {
	label string
	unit  unit
	top   float64
	of    func(SweepPoint) float64
}

func (s *sweep) body(c draw.Canvas, t theme) {
	u := timeUnit(s.steps)
	b := pick(byteUnits, s.memory)
	memoryTop := s.memory
	if s.showsCapacity() {
		memoryTop = max(memoryTop, s.capacity)
	}
	panels := []panel{
		{"step time (" + u.name + ")", u, s.steps, func(p SweepPoint) float64 { return p.StepTime }},
		{"bubble (% of the step)", unit{"%", 0.01}, max(s.bubble, 0.01), func(p SweepPoint) float64 { return p.Bubble }},
		{"peak memory (" + b.name + ")", b, memoryTop, func(p SweepPoint) float64 { return p.PeakMemory }},
	}
	width := c.Size().X / vg.Length(len(panels))
	for i, panel := range panels {
		left := width * vg.Length(i)
		s.drawPanel(draw.Crop(c, left, left+width-t.pt(20)-c.Size().X, 0, 0), t, panel, i == len(panels)-1)
	}
}

func (s *sweep) drawPanel(c draw.Canvas, t theme, panel panel, isMemory bool) {
	p := t.axes(s.axis, panel.label)
	n := len(s.xs)
	p.X.Label.TextStyle = t.fit(14, false, s.axis, c.Size().X*0.8)
	p.X.Label.TextStyle.XAlign, p.X.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	p.X.Min, p.X.Max = -0.5, float64(n)-0.5
	p.Y.Min, p.Y.Max = 0, max(panel.top, 1e-30)*1.08
	p.X.Tick.Marker = s.xTicks(t, c.Size().X*0.8)
	p.Y.Tick.Marker = linearTicks(p.Y.Max, panel.unit, 8)
	p.Add(t.grid(false, true), plotFunc(func(c draw.Canvas, p *plot.Plot) {
		for i := range s.names {
			s.drawSeries(c, p, t, panel, i)
		}
		if isMemory && s.showsCapacity() {
			y := c.Y(p.Y.Norm(s.capacity))
			c.StrokeLine2(draw.LineStyle{Color: capacityColor, Width: t.pt(2.5)}, c.Min.X, y, c.Max.X, y)
		}
	}))
	p.Draw(c)
}

// xTicks labels as many values as there is room for.
func (s *sweep) xTicks(t theme, width vg.Length) plot.ConstantTicks {
	sty := t.text(13)
	widest := vg.Length(1)
	for _, x := range s.xs {
		widest = max(widest, sty.Width(x)+t.pt(8))
	}
	every := int(math.Ceil(float64(widest) * float64(len(s.xs)) / float64(width)))
	var out plot.ConstantTicks
	for i := 0; i < len(s.xs); i += max(every, 1) {
		out = append(out, plot.Tick{Value: float64(i), Label: clip(sty, s.xs[i], width/2)})
	}
	return out
}

func (s *sweep) drawSeries(c draw.Canvas, p *plot.Plot, t theme, panel panel, i int) {
	col := series[i%len(series)]
	var pts []vg.Point
	var full []bool
	for x, name := range s.xs {
		for _, pt := range s.points {
			v := panel.of(pt)
			if pt.X == name && pt.Series == s.names[i] && (drawable(v) || v == 0 && panel.unit.name == "%") {
				pts = append(pts, vg.Point{X: c.X(p.X.Norm(float64(x))), Y: c.Y(p.Y.Norm(v))})
				full = append(full, !pt.Fits)
			}
		}
	}
	if len(pts) > 1 {
		c.StrokeLines(draw.LineStyle{Color: col, Width: t.pt(2)}, pts)
	}
	for k, pt := range pts {
		t.spot(c, pt, col, full[k])
	}
}
