package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/plots/timeline"
)

func (m *memoryOverTime) body(c draw.Canvas, t chart.Theme) {
	strip := vg.Length(0)
	if len(m.phases) > 0 {
		strip = t.Pt(24)
	}
	u := chart.TimeUnit(m.End.Seconds())
	top := max(m.peak, m.peakReserved)
	if m.showsCapacity() {
		top = max(top, m.capacity)
	}
	b := chart.PickUnit(chart.ByteUnits, top)
	p := t.Axes(timeline.TimeLabel(m.rep, u.Name), "memory ("+b.Name+")")
	p.X.Min, p.X.Max = 0, m.End.Seconds()
	p.Y.Min, p.Y.Max = 0, top*1.05
	p.X.Tick.Marker = chart.LinearTicks(p.X.Max, u, 10)
	p.Y.Tick.Marker = chart.LinearTicks(p.Y.Max, b, 8)
	p.Add(t.Grid(false, true), chart.PlotFunc(m.drawStack),
		chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) { m.drawLines(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.Pt(14), 0, -strip))
}

// drawStack paints the whole stack in the colour of its top kind, then all but
// the top, and so on: no seams between neighbours.
func (m *memoryOverTime) drawStack(c draw.Canvas, p *plot.Plot) {
	sum := make([]float64, timeline.Columns)
	sums := make([][]float64, reservedSlot)
	for s := range reservedSlot {
		for i, v := range m.Value[s] {
			sum[i] += v
		}
		sums[s] = append([]float64(nil), sum...)
	}
	for s := reservedSlot - 1; s >= 0; s-- {
		if !m.present[s] {
			continue
		}
		col := chart.OtherMemory.Color
		if s < len(chart.MemoryStyles) {
			col = chart.MemoryStyles[s].Color
		}
		pts := timeline.Outline(sums[s], c, p, m.End.Seconds())
		base := c.Min.Y
		pts = append(pts, vg.Point{X: pts[len(pts)-1].X, Y: base}, vg.Point{X: pts[0].X, Y: base})
		c.FillPolygon(col, pts)
	}
}

func (m *memoryOverTime) drawLines(c draw.Canvas, p *plot.Plot, t chart.Theme) {
	for i, ph := range m.phases {
		x0, x1 := c.X(p.X.Norm(ph.Start)), c.X(p.X.Norm(ph.End))
		if i > 0 {
			c.StrokeLine2(draw.LineStyle{Color: chart.SoftInk, Width: t.Pt(0.8),
				Dashes: []vg.Length{t.Pt(2), t.Pt(3)}}, x0, c.Min.Y, x0, c.Max.Y)
		}
		drawPhase(c, t, ph, i, x0, x1)
	}
	if m.peakReserved > 0 {
		c.StrokeLines(t.Dashes(chart.Ink), timeline.Outline(m.Value[reservedSlot], c, p, m.End.Seconds()))
	}
	if m.showsCapacity() {
		y := c.Y(p.Y.Norm(m.capacity))
		c.StrokeLine2(draw.LineStyle{Color: chart.CapacityColor, Width: t.Pt(2.5)}, c.Min.X, y, c.Max.X, y)
	}
	if m.oom >= 0 && !math.IsInf(m.oom, 0) {
		if x := c.X(p.X.Norm(m.oom)); c.ContainsX(x) {
			c.StrokeLine2(draw.LineStyle{Color: chart.Vermillion, Width: t.Pt(2.5)}, x, c.Min.Y, x, c.Max.Y)
		}
	}
}

// drawPhase puts a phase into the strip above the data, with its name where that
// fits.
func drawPhase(c draw.Canvas, t chart.Theme, ph timeline.Phase, i int, x0, x1 vg.Length) {
	shade := chart.IdleGrey
	if i%2 == 1 {
		shade = chart.GridGrey
	}
	y0, y1 := c.Max.Y+t.Pt(3), c.Max.Y+t.Pt(21)
	chart.FillRect(c, shade, x0, y0, x1, y1)
	sty := t.Text(12)
	sty.XAlign, sty.YAlign = draw.XCenter, chart.YMiddle
	if sty.Width(ph.Name)+t.Pt(4) <= x1-x0 {
		c.FillText(sty, vg.Point{X: (x0 + x1) / 2, Y: (y0 + y1) / 2}, ph.Name)
	}
}
