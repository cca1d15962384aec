package plots

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// yMiddle centres capitals and digits on a line; draw.YCenter would centre the
// line of text, with the room under it, and so sit a tenth of the size lower.
const yMiddle draw.YAlignment = -0.41

// theme scales fonts and lines with the page.
type theme struct{ scale float64 }

// themeFor makes the text of a 1600 by 900 page 13 to 20 points and keeps that
// share of the page at other sizes.
func themeFor(size vg.Point) theme {
	w := float64(size.X / (defaultWidth * dot))
	h := float64(size.Y / (defaultHeight * dot))
	return theme{scale: min(w, h)}
}

// pt returns a length that is n points on a page of the default size.
func (t theme) pt(n float64) vg.Length { return vg.Length(n * t.scale) }

// text returns a left-aligned style of Liberation Sans.
func (t theme) text(size float64) draw.TextStyle { return t.style(size, false) }

func (t theme) style(size float64, bold bool) draw.TextStyle {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: t.pt(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return draw.TextStyle{Color: ink, Font: f, XAlign: draw.XLeft, YAlign: draw.YBottom, Handler: plot.DefaultTextHandler}
}

// fit returns a style in which text is at most width wide, down to 60 % of size.
func (t theme) fit(size float64, bold bool, text string, width vg.Length) draw.TextStyle {
	sty := t.style(size, bold)
	if w := sty.Width(text); w > width {
		sty = t.style(size*max(0.6, float64(width/w)), bold)
	}
	return sty
}

func (t theme) dashes(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: t.pt(1.8), Dashes: []vg.Length{t.pt(6), t.pt(4)}}
}

// axes returns a plot without title, legend and background, with fonts of the
// theme and ticks that the caller sets.
func (t theme) axes(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.Color = ink
		a.Width = t.pt(1)
		a.Label.TextStyle.Font = t.text(14).Font
		a.Label.TextStyle.Color = ink
		a.Label.Padding = t.pt(6)
		a.Tick.Label.Font = t.text(13).Font
		a.Tick.Label.Color = ink
		a.Tick.LineStyle = draw.LineStyle{Color: ink, Width: t.pt(1)}
		a.Tick.Length = t.pt(6)
	}
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	return p
}

// plotFunc is a plotter that is a function.
type plotFunc func(c draw.Canvas, p *plot.Plot)

// Plot calls f.
func (f plotFunc) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// grid draws thin lines at the major ticks, under the data.
func (t theme) grid(xs, ys bool) plotFunc {
	return func(c draw.Canvas, p *plot.Plot) {
		sty := draw.LineStyle{Color: gridGrey, Width: t.pt(0.8)}
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
