package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

// ScoreChart is a comparison of predictions with measurements.
type ScoreChart struct {
	Points   []Point
	Quantity string // what is compared, with its unit: "step time (s)"
}

// Point is one measured run and what was predicted for it, in the same unit.
type Point struct {
	Measured, Predicted float64
	Family              string // points of one family look alike
}

// ScoreOf makes the chart of predicted over measured times or, where no row has a
// time, of memory.
func ScoreOf(rows []report.Scored) ScoreChart {
	times, memory := ScoreChart{Quantity: "time (s)"}, ScoreChart{Quantity: "memory (GiB)"}
	for i := range rows {
		r := &rows[i]
		if r.Measured != nil && r.Predicted != nil {
			times.Points = append(times.Points, Point{*r.Measured, *r.Predicted, r.Family})
		}
		if r.MeasuredBytes != nil && r.PredictedBytes != nil {
			gib := chart.ByteUnits[3].Scale
			memory.Points = append(memory.Points, Point{
				float64(*r.MeasuredBytes) / gib, float64(*r.PredictedBytes) / gib, r.Family,
			})
		}
	}
	if len(times.Points) == 0 {
		return memory
	}
	return times
}

// band is the share by which a prediction may miss and still lie in the band
// that Scatter draws.
const band = 0.05

const errNoPoints = chart.Empty("plots: no point with a positive measurement and prediction to draw")

// Scatter draws predictions over measurements on logarithmic axes, with the
// diagonal, a band of 5 % on either side and a colour and shape a family in the
// order of appearance.
// Points that are not positive and finite are left out; if none is left, that
// is an error.
func Scatter(c ScoreChart, o chart.Options) (*chart.Figure, error) {
	s := newScatter(c.Points, c.Quantity)
	if len(s.points) == 0 {
		return nil, errNoPoints
	}
	title := o.Title
	if title == "" {
		title = "predicted and measured " + c.Quantity
	}
	return chart.New(o, chart.Page{Title: title, Subtitle: s.facts(len(c.Points)), Legend: s.legend(), Body: s.body})
}

type scatter struct {
	points   []Point
	families []string
	quantity string
	min, max float64
}

func newScatter(points []Point, quantity string) *scatter {
	s := &scatter{quantity: quantity, min: math.Inf(1)}
	for _, p := range points {
		if !chart.Drawable(p.Measured) || !chart.Drawable(p.Predicted) {
			continue
		}
		s.points = append(s.points, p)
		if !slices.Contains(s.families, p.Family) {
			s.families = append(s.families, p.Family)
		}
		s.min = min(s.min, p.Measured, p.Predicted)
		s.max = max(s.max, p.Measured, p.Predicted)
	}
	s.min, s.max = s.min/1.25, s.max*1.25
	return s
}

func (s *scatter) facts(all int) string {
	within := 0
	errs := make([]float64, 0, len(s.points))
	for _, p := range s.points {
		e := math.Abs(p.Predicted/p.Measured - 1)
		errs = append(errs, e)
		if e <= band {
			within++
		}
	}
	slices.Sort(errs)
	left := ""
	if all > len(s.points) {
		left = fmt.Sprintf("%d without both values", all-len(s.points))
	}
	return chart.Facts(fmt.Sprintf("%d points", len(s.points)),
		fmt.Sprintf("%d (%s) within 5 %%", within, chart.Percent(float64(within)/float64(len(s.points)))),
		"median error "+chart.Percent((errs[(len(errs)-1)/2]+errs[len(errs)/2])/2),
		"largest "+chart.Percent(errs[len(errs)-1]), left)
}

func (s *scatter) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	for i, f := range s.families {
		color, shape := chart.SeriesStyle(i)
		out = append(out, chart.LegendEntry{Label: f, Color: color, Mark: chart.MarkPoint, Shape: shape})
	}
	return append(out,
		chart.LegendEntry{Label: "within 5 %", Color: chart.IdleGrey},
		chart.LegendEntry{Label: "prediction = measurement", Color: chart.Ink, Mark: chart.MarkLine})
}

func (s *scatter) body(c draw.Canvas, t chart.Theme) {
	p := t.Axes("measured "+s.quantity, "predicted "+s.quantity)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Min, a.Max = s.min, s.max
		a.Scale = plot.LogScale{}
		a.Tick.Marker = chart.LogTicks(s.min, s.max)
	}
	p.Add(chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) { s.drawBand(c, p, t) }), t.Grid(true, true),
		chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) { s.drawPoints(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.Pt(14), 0, 0))
}

func (s *scatter) drawBand(c draw.Canvas, p *plot.Plot, t chart.Theme) {
	at := func(x, y float64) vg.Point { return vg.Point{X: c.X(p.X.Norm(x)), Y: c.Y(p.Y.Norm(y))} }
	lo, hi := 1-band, 1+band
	c.FillPolygon(chart.IdleGrey, c.ClipPolygonXY([]vg.Point{
		at(s.min, s.min*lo), at(s.max, s.max*lo), at(s.max, s.max*hi), at(s.min, s.min*hi),
	}))
	c.StrokeLines(draw.LineStyle{Color: chart.Ink, Width: t.Pt(1.2)}, []vg.Point{at(s.min, s.min), at(s.max, s.max)})
}

func (s *scatter) drawPoints(c draw.Canvas, p *plot.Plot, t chart.Theme) {
	for i, f := range s.families {
		color, shape := chart.SeriesStyle(i)
		ring := draw.GlyphStyle{Color: chart.White, Radius: t.Pt(6), Shape: shape}
		for _, pt := range s.points {
			if pt.Family == f {
				at := vg.Point{X: c.X(p.X.Norm(pt.Measured)), Y: c.Y(p.Y.Norm(pt.Predicted))}
				c.DrawGlyphNoClip(ring, at)
				c.DrawGlyphNoClip(draw.GlyphStyle{Color: color, Radius: t.Pt(5), Shape: shape}, at)
			}
		}
	}
}
