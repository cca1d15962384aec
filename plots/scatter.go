package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is one measured run and what was predicted for it, in the same unit.
type Point struct {
	Measured, Predicted float64
	Family              string // points of one family look alike
}

// band is the share by which a prediction may miss and still lie in the band
// that Scatter draws.
const band = 0.05

var errNoPoints = errors.New("plots: no point with a positive measurement and prediction to draw")

// Scatter draws predictions over measurements on logarithmic axes, with the
// diagonal, a band of 5 % on either side and a colour and shape a family in the
// order of appearance. Quantity names what is compared, "step time (s)" for example.
// Points that are not positive and finite are left out; if none is left, that
// is an error.
func Scatter(points []Point, quantity string, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	s := newScatter(points, quantity)
	if len(s.points) == 0 {
		return nil, errNoPoints
	}
	title := o.Title
	if title == "" {
		title = "predicted and measured " + quantity
	}
	return newFigure(o, page{title: title, subtitle: s.facts(len(points)), legend: s.legend(), body: s.body}), nil
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
		if !drawable(p.Measured) || !drawable(p.Predicted) {
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

// drawable says whether v has a place on a logarithmic axis.
func drawable(v float64) bool { return v > 1e-30 && v < 1e30 }

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
	return facts(fmt.Sprintf("%d points", len(s.points)),
		fmt.Sprintf("%d (%s) within 5 %%", within, percent(float64(within)/float64(len(s.points)))),
		"median error "+percent((errs[(len(errs)-1)/2]+errs[len(errs)/2])/2), "largest "+percent(errs[len(errs)-1]), left)
}

func (s *scatter) legend() []entry {
	var out []entry
	for i, f := range s.families {
		color, shape := seriesStyle(i)
		out = append(out, entry{label: f, color: color, mark: markPoint, shape: shape})
	}
	return append(out,
		entry{label: "within 5 %", color: idleGrey},
		entry{label: "prediction = measurement", color: ink, mark: markLine})
}

func (s *scatter) body(c draw.Canvas, t theme) {
	p := t.axes("measured "+s.quantity, "predicted "+s.quantity)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Min, a.Max = s.min, s.max
		a.Scale = plot.LogScale{}
		a.Tick.Marker = logTicks(s.min, s.max)
	}
	p.Add(plotFunc(func(c draw.Canvas, p *plot.Plot) { s.drawBand(c, p, t) }), t.grid(true, true),
		plotFunc(func(c draw.Canvas, p *plot.Plot) { s.drawPoints(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.pt(14), 0, 0))
}

func (s *scatter) drawBand(c draw.Canvas, p *plot.Plot, t theme) {
	at := func(x, y float64) vg.Point { return vg.Point{X: c.X(p.X.Norm(x)), Y: c.Y(p.Y.Norm(y))} }
	lo, hi := 1-band, 1+band
	c.FillPolygon(idleGrey, c.ClipPolygonXY([]vg.Point{
		at(s.min, s.min*lo), at(s.max, s.max*lo), at(s.max, s.max*hi), at(s.min, s.min*hi),
	}))
	c.StrokeLines(draw.LineStyle{Color: ink, Width: t.pt(1.2)}, []vg.Point{at(s.min, s.min), at(s.max, s.max)})
}

func (s *scatter) drawPoints(c draw.Canvas, p *plot.Plot, t theme) {
	for i, f := range s.families {
		color, shape := seriesStyle(i)
		ring := draw.GlyphStyle{Color: white, Radius: t.pt(6), Shape: shape}
		for _, pt := range s.points {
			if pt.Family == f {
				at := vg.Point{X: c.X(p.X.Norm(pt.Measured)), Y: c.Y(p.Y.Norm(pt.Predicted))}
				c.DrawGlyphNoClip(ring, at)
				c.DrawGlyphNoClip(draw.GlyphStyle{Color: color, Radius: t.pt(5), Shape: shape}, at)
			}
		}
	}
}

// logTicks labels powers of ten, and 2 and 5 times them where fewer than three
// decades are shown; the rest are minor.
func logTicks(lo, hi float64) plot.ConstantTicks {
	var out plot.ConstantTicks
	close := math.Log10(hi/lo) < 3
	every := 1 + int(math.Log10(hi/lo)/12)
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow(10, float64(e))
			if v < lo || v > hi {
				continue
			}
			label := ""
			if m == 1 && e%every == 0 || close && (m == 2 || m == 5) {
				label = sig(v, 1)
			}
			out = append(out, plot.Tick{Value: v, Label: label})
		}
	}
	return out
}
