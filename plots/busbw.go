package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
)

// Curve is the bus bandwidth of one collective over the size of its message.
type Curve struct {
	Name  string
	Size  []float64 // bytes
	BusBW []float64 // bytes a second, one for each size
	// Measured curves are drawn as points, predicted ones as lines.
	Measured bool
}

const errNoCurves = chart.Empty("plots: no curve with a positive size and bandwidth to draw")

// BusBW draws bus bandwidth over message size, the size on a logarithmic axis.
// Values that are not positive and finite are left out; if none is left, that
// is an error.
func BusBW(curves []Curve, o chart.Options) (*chart.Figure, error) {
	b := &busBW{lo: math.Inf(1)}
	for _, c := range curves {
		b.add(c)
	}
	if b.top == 0 {
		return nil, errNoCurves
	}
	b.lo, b.hi = b.lo/1.3, b.hi*1.3
	title := o.Title
	if title == "" {
		title = "bus bandwidth over message size"
	}
	return chart.New(o, chart.Page{Title: title, Legend: b.legend(), Body: b.body})
}

type busBW struct {
	curves      []Curve
	lo, hi, top float64
}

// add keeps the part of a curve that has a place on the axes.
func (b *busBW) add(c Curve) {
	kept := Curve{Name: c.Name, Measured: c.Measured}
	for i := range min(len(c.Size), len(c.BusBW)) {
		if chart.Drawable(c.Size[i]) && chart.Drawable(c.BusBW[i]) {
			kept.Size = append(kept.Size, c.Size[i])
			kept.BusBW = append(kept.BusBW, c.BusBW[i])
			b.lo, b.hi = min(b.lo, c.Size[i]), max(b.hi, c.Size[i])
			b.top = max(b.top, c.BusBW[i])
		}
	}
	if len(kept.Size) > 0 {
		b.curves = append(b.curves, kept)
	}
}

// color gives a measured curve the colour of the predicted one of its name.
func (b *busBW) color(i int) int {
	seen := map[string]int{}
	for _, c := range b.curves[:i+1] {
		if _, ok := seen[c.Name]; !ok {
			seen[c.Name] = len(seen)
		}
	}
	return seen[b.curves[i].Name]
}

func (b *busBW) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	for i, c := range b.curves {
		e := chart.LegendEntry{Label: c.Name, Color: chart.SeriesColor(b.color(i)), Mark: chart.MarkLine}
		if c.Measured {
			e.Label, e.Mark = c.Name+" (measured)", chart.MarkDot
		}
		out = append(out, e)
	}
	return out
}

func (b *busBW) body(c draw.Canvas, t chart.Theme) {
	u := chart.PickUnit(chart.RateUnits, b.top)
	p := t.Axes("message size", "bus bandwidth ("+u.Name+")")
	p.X.Min, p.X.Max = b.lo, b.hi
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = sizeTicks(b.lo, b.hi)
	p.Y.Min, p.Y.Max = 0, b.top*1.08
	p.Y.Tick.Marker = chart.LinearTicks(p.Y.Max, u, 8)
	p.Add(t.Grid(true, true), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) {
		for i := range b.curves {
			b.drawCurve(c, p, t, i)
		}
	}))
	p.Draw(draw.Crop(c, 0, -t.Pt(18), 0, 0))
}

func (b *busBW) drawCurve(c draw.Canvas, p *plot.Plot, t chart.Theme, i int) {
	curve, col := b.curves[i], chart.SeriesColor(b.color(i))
	var pts []vg.Point
	for k := range curve.Size {
		pts = append(pts, vg.Point{X: c.X(p.X.Norm(curve.Size[k])), Y: c.Y(p.Y.Norm(curve.BusBW[k]))})
	}
	if !curve.Measured && len(pts) > 1 {
		c.StrokeLines(draw.LineStyle{Color: col, Width: t.Pt(2)}, pts)
		return
	}
	for _, pt := range pts {
		t.Spot(c, pt, col, false)
	}
}

// sizeTicks labels powers of two, at most about a dozen of them.
func sizeTicks(lo, hi float64) plot.ConstantTicks {
	first, last := int(math.Ceil(math.Log2(lo))), int(math.Floor(math.Log2(hi)))
	every := 1
	for (last-first)/every > 12 {
		every++
	}
	var out plot.ConstantTicks
	for e := first; e <= last; e++ {
		v := math.Pow(2, float64(e))
		label := ""
		if e%every == 0 {
			u := chart.PickUnit(chart.ByteUnits, v)
			label = chart.Significant(v/u.Scale, 1) + " " + u.Name
		}
		out = append(out, plot.Tick{Value: v, Label: label})
	}
	return out
}
