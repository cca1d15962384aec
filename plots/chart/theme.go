package chart

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// YMiddle centres capitals and digits on a line; draw.YCenter would centre the
// line of text, with the room under it, and so sit a tenth of the size lower.
const YMiddle draw.YAlignment = -0.41

// Theme scales fonts and lines with the page.
type Theme struct{ Scale float64 }

// themeFor makes the text of a 1600 by 900 page 13 to 20 points and keeps that
// share of the page at other sizes.
func themeFor(size vg.Point) Theme {
	w := float64(size.X / (defaultWidth * Dot))
	h := float64(size.Y / (defaultHeight * Dot))
	return Theme{Scale: min(w, h)}
}

// Pt returns a length that is n points on a page of the default size.
func (t Theme) Pt(n float64) vg.Length { return vg.Length(n * t.Scale) }

// Text returns a left-aligned style of Liberation Sans.
func (t Theme) Text(size float64) draw.TextStyle { return t.Style(size, false) }

// Style is Text, bold or not.
func (t Theme) Style(size float64, bold bool) draw.TextStyle {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: t.Pt(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return draw.TextStyle{Color: Ink, Font: f, XAlign: draw.XLeft, YAlign: draw.YBottom,
		Handler: plot.DefaultTextHandler}
}

// Fit returns a style in which text is at most width wide, down to 60 % of size.
func (t Theme) Fit(size float64, bold bool, text string, width vg.Length) draw.TextStyle {
	sty := t.Style(size, bold)
	if w := sty.Width(text); w > width {
		sty = t.Style(size*max(0.6, float64(width/w)), bold)
	}
	return sty
}

// Dashes returns the one dashed line.
func (t Theme) Dashes(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: t.Pt(1.8), Dashes: []vg.Length{t.Pt(6), t.Pt(4)}}
}

// Axes returns a plot without title, legend and background, with fonts of the
// theme and ticks that the caller sets.
func (t Theme) Axes(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.Color = Ink
		a.Width = t.Pt(1)
		a.Label.TextStyle.Font = t.Text(14).Font
		a.Label.TextStyle.Color = Ink
		a.Label.Padding = t.Pt(6)
		a.Tick.Label.Font = t.Text(13).Font
		a.Tick.Label.Color = Ink
		a.Tick.LineStyle = draw.LineStyle{Color: Ink, Width: t.Pt(1)}
		a.Tick.Length = t.Pt(6)
	}
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	return p
}

// RowAxes returns axes for rows from the top, the i-th around -i, each under its
// label where that is not empty.
func (t Theme) RowAxes(xLabel string, labels []string) *plot.Plot {
	p := t.Axes(xLabel, "")
	p.Y.Min, p.Y.Max = -float64(len(labels))+0.5, 0.5
	var ticks plot.ConstantTicks
	for i, label := range labels {
		if label != "" {
			ticks = append(ticks, plot.Tick{Value: -float64(i), Label: label})
		}
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length, p.Y.Width = 0, 0
	return p
}

// EveryRow is of how many rows, or bars side by side, one is labelled, where all
// would stand too close.
func EveryRow(rows int) int { return (rows + 31) / 32 }

// BarHalf is half the height of one of n bars.
func BarHalf(c draw.Canvas, t Theme, n int) vg.Length {
	return min(c.Size().Y/vg.Length(n)*0.38, t.Pt(45))
}

// PlotFunc is a plotter that is a function.
type PlotFunc func(c draw.Canvas, p *plot.Plot)

// Plot calls f.
func (f PlotFunc) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// Grid draws thin lines at the major ticks, under the data.
func (t Theme) Grid(xs, ys bool) PlotFunc {
	return func(c draw.Canvas, p *plot.Plot) {
		sty := draw.LineStyle{Color: GridGrey, Width: t.Pt(0.8)}
		for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if x := c.X(p.X.Norm(tick.Value)); xs && !tick.IsMinor() && c.ContainsX(x) {
				c.StrokeLine2(sty, x, c.Min.Y, x, c.Max.Y)
			}
		}
		for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if y := c.Y(p.Y.Norm(tick.Value)); ys && !tick.IsMinor() && c.ContainsY(y) {
				c.StrokeLine2(sty, c.Min.X, y, c.Max.X, y)
			}
		}
	}
}
