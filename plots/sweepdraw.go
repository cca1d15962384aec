package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is one quantity of a sweep.
type panel struct {
	label string
	unit  unit
	top   float64
	of    func(*SweepPoint) float64
}

// drawPanels puts the quantities side by side; the memory is the last.
func (s *sweep) drawPanels(c draw.Canvas, t theme, panels []panel) {
	width := c.Size().X / vg.Length(len(panels))
	for i, panel := range panels {
		left := width * vg.Length(i)
		s.drawPanel(draw.Crop(c, left, left+width-t.pt(20)-c.Size().X, 0, 0), t, panel, i == len(panels)-1)
	}
}

func (s *sweep) drawPanel(c draw.Canvas, t theme, panel panel, isMemory bool) {
	p := t.axes(s.axis.name, panel.label)
	p.X.Label.TextStyle = t.fit(14, false, s.axis.name, c.Size().X*0.8)
	p.X.Label.TextStyle.XAlign, p.X.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	p.X.Min, p.X.Max = s.axis.min, s.axis.max
	p.Y.Min, p.Y.Max = 0, max(panel.top, 1e-30)*1.08
	p.X.Tick.Marker = s.axis.ticks(t, c.Size().X*0.8)
	p.Y.Tick.Marker = linearTicks(p.Y.Max, panel.unit, 8)
	p.Add(t.grid(false, true), plotFunc(func(c draw.Canvas, p *plot.Plot) {
		if isMemory && s.showsCapacity() {
			y := c.Y(p.Y.Norm(s.capacity))
			c.StrokeLine2(draw.LineStyle{Color: capacityColor, Width: t.pt(2.5)}, c.Min.X, y, c.Max.X, y)
		}
		s.drawKnee(c, p, t)
		for i := range s.curves {
			s.drawCurve(c, p, t, panel, i)
		}
	}))
	p.Draw(c)
}

// drawKnee marks the knee of a single line across the panel.
func (s *sweep) drawKnee(c draw.Canvas, p *plot.Plot, t theme) {
	if len(s.curves) != 1 || s.curves[0].knee < 0 {
		return
	}
	x := c.X(p.X.Norm(s.axis.at[s.curves[0].points[s.curves[0].knee].X]))
	c.StrokeLine2(t.dashes(softInk), x, c.Min.Y, x, c.Max.Y)
}

func (s *sweep) drawCurve(c draw.Canvas, p *plot.Plot, t theme, panel panel, i int) {
	col := series[i%len(series)]
	var line []vg.Point
	var shown []int
	for k := range s.curves[i].points {
		pt := &s.curves[i].points[k]
		if v := panel.of(pt); drawable(v) || v == 0 && panel.unit.name == "%" && drawable(pt.StepTime) {
			line = append(line, vg.Point{X: c.X(p.X.Norm(s.axis.at[pt.X])), Y: c.Y(p.Y.Norm(v))})
			shown = append(shown, k)
		}
	}
	if len(line) > 1 {
		c.StrokeLines(draw.LineStyle{Color: col, Width: t.pt(2)}, line)
	}
	dense := len(s.axis.values) > denseAxis
	for k, at := range line {
		knee, full := shown[k] == s.curves[i].knee, !s.curves[i].points[shown[k]].Fits
		if !dense || knee || full || len(line) == 1 {
			t.spot(c, at, col, full)
		}
		if knee {
			t.ring(c, at)
		}
	}
}

// denseAxis is the number of values from which dots would hide the line.
const denseAxis = 40

// ring marks a spot that stands out.
func (t theme) ring(c draw.Canvas, at vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: t.pt(8.5), Shape: draw.RingGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: t.pt(9), Shape: draw.RingGlyph{}}, at)
}
