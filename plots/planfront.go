package plots

import (
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

// drawFront draws step time against peak memory.
func (f *planFigure) drawFront(c draw.Canvas, t chart.Theme) {
	u, b := chart.TimeUnit(f.slowest), chart.PickUnit(chart.ByteUnits, max(f.memory, f.capacity))
	p := t.Axes("step time ("+u.Name+")", "peak memory of the fullest GPU ("+b.Name+")")
	margin := max(f.slowest-f.fastest, 0.02*f.slowest) * 0.06
	p.X.Min, p.X.Max = max(0, f.fastest-margin), f.slowest+margin
	p.Y.Min, p.Y.Max = 0, max(f.memory, f.capacity)*1.08
	p.X.Tick.Marker = chart.TicksBetween(p.X.Min, p.X.Max, u, 7)
	p.Y.Tick.Marker = chart.LinearTicks(p.Y.Max, b, 8)
	p.Add(t.Grid(true, true), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) {
		y := c.Y(p.Y.Norm(f.capacity))
		c.StrokeLine2(draw.LineStyle{Color: chart.CapacityColor, Width: t.Pt(2.5)}, c.Min.X, y, c.Max.X, y)
		for i := range f.plan.Sizes {
			f.drawSize(c, p, t, i)
		}
	}))
	p.Draw(c)
}

// drawSize draws the front of one number of GPUs as the staircase that it is,
// and rings the fastest layouts.
func (f *planFigure) drawSize(c draw.Canvas, p *plot.Plot, t chart.Theme, i int) {
	s, col := &f.plan.Sizes[i], chart.SeriesColor(i)
	at := func(e *report.PlanEntry) vg.Point {
		return vg.Point{X: c.X(p.X.Norm(e.StepTime)), Y: c.Y(p.Y.Norm(float64(e.PeakMemory)))}
	}
	var stairs []vg.Point
	for k := range s.Front {
		pt := at(&s.Front[k])
		if k > 0 {
			stairs = append(stairs, vg.Point{X: pt.X, Y: stairs[len(stairs)-1].Y})
		}
		stairs = append(stairs, pt)
	}
	if len(stairs) > 1 {
		c.StrokeLines(draw.LineStyle{Color: col, Width: t.Pt(2)}, stairs)
	}
	for k := range s.Front {
		t.Spot(c, at(&s.Front[k]), col, false)
	}
	for k := range s.Best {
		t.Ring(c, at(&s.Best[k]))
		if len(f.plan.Sizes) > 1 {
			return
		}
	}
	f.drawRanks(c, t, s.Best, at, c.Y(p.Y.Norm(f.capacity)))
}

// drawRanks writes the ranks beside their rings. One in a crowd without a free
// side goes unwritten: its ring stands, and the bars tell its layout.
func (f *planFigure) drawRanks(c draw.Canvas, t chart.Theme, best []report.PlanEntry,
	at func(*report.PlanEntry) vg.Point, capacity vg.Length) {
	sty := t.Text(13)
	sty.XAlign, sty.YAlign = draw.XCenter, chart.YMiddle
	var rings []vg.Point
	for k := range best {
		rings = append(rings, at(&best[k]))
	}
	labels := placeRanks(rings, capacity, t.Pt(14))
	for k := range best { // in order, for the same bytes each time
		if label, ok := labels[k]; ok {
			c.FillText(sty, label, strconv.Itoa(best[k].Rank))
		}
	}
}

// placeRanks gives each ring, the first before the others, the first side that
// is free of rings, of the ranks placed before and of the line of the capacity.
// A ring without a free side is left out. Size is what a rank takes.
func placeRanks(rings []vg.Point, capacity, size vg.Length) map[int]vg.Point {
	d := size * 1.07
	sides := []vg.Point{{X: d, Y: d}, {X: d, Y: -d}, {X: -d, Y: -d}, {X: -d, Y: d}, {X: d}, {X: -d}, {Y: -d}, {Y: d}}
	taken := slices.Clone(rings)
	labels := map[int]vg.Point{}
	for k, ring := range rings {
		for _, side := range sides {
			label := ring.Add(side)
			onLine := max(label.Y-capacity, capacity-label.Y) < size*0.65
			if onLine || slices.ContainsFunc(taken, func(o vg.Point) bool { return near(label, o, size) }) {
				continue
			}
			taken, labels[k] = append(taken, label), label
			break
		}
	}
	return labels
}

// near reports whether two labels would lie on each other.
func near(a, b vg.Point, distance vg.Length) bool {
	return max(a.X-b.X, b.X-a.X) < distance && max(a.Y-b.Y, b.Y-a.Y) < distance
}
