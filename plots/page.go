package plots

import (
	"image/color"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// page is the layout that all figures share: title, subtitle and legend above
// the body, so that nothing lies on the data.
type page struct {
	title, subtitle string
	legend          []entry
	body            func(c draw.Canvas, t theme)
}

// mark is how a legend entry is drawn.
type mark uint8

const (
	markBox mark = iota
	markLine
	markDashes
	markDot
	markRing
	markKnee
	markPoint // in the entry's shape
)

// entry is one line of a legend.
type entry struct {
	label string
	color color.RGBA
	mark  mark
	shape draw.GlyphDrawer // of markPoint
}

func (p *page) draw(c draw.Canvas) {
	t := themeFor(c.Size())
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, t.pt(18), -t.pt(18), t.pt(12), -t.pt(14))
	top := c.Max.Y
	line := func(size float64, bold bool, col color.RGBA, text string) {
		if text == "" {
			return
		}
		sty := t.fit(size, bold, text, c.Size().X)
		sty.Color = col
		sty.YAlign = draw.YTop
		c.FillText(sty, vg.Point{X: c.Min.X, Y: top}, clip(sty, text, c.Size().X))
		top -= t.pt(size * 1.35)
	}
	line(20, true, ink, p.title)
	line(14, false, softInk, p.subtitle)
	top -= t.pt(4)
	c.Max.Y = top
	c.Max.Y -= drawLegend(c, t, p.legend)
	p.body(c, t)
}

// drawLegend fills rows from the left and returns the height they take.
func drawLegend(c draw.Canvas, t theme, entries []entry) vg.Length {
	if len(entries) == 0 {
		return t.pt(4)
	}
	sty := t.text(13)
	sty.YAlign = yMiddle
	row, gap, swatch := t.pt(19), t.pt(18), t.pt(22)
	x, y := c.Min.X, c.Max.Y-row/2
	for _, e := range entries {
		label := clip(sty, e.label, c.Size().X-swatch-t.pt(6))
		width := swatch + t.pt(6) + sty.Width(label)
		if x+width > c.Max.X && x > c.Min.X {
			x, y = c.Min.X, y-row
		}
		drawMark(c, t, e, vg.Point{X: x, Y: y}, swatch)
		c.FillText(sty, vg.Point{X: x + swatch + t.pt(6), Y: y}, label)
		x += width + gap
	}
	return c.Max.Y - y + row/2 + t.pt(8)
}

func drawMark(c draw.Canvas, t theme, e entry, left vg.Point, width vg.Length) {
	right := vg.Point{X: left.X + width, Y: left.Y}
	switch e.mark {
	case markLine:
		c.StrokeLine2(draw.LineStyle{Color: e.color, Width: t.pt(2)}, left.X, left.Y, right.X, right.Y)
	case markDashes:
		c.StrokeLine2(t.dashes(e.color), left.X, left.Y, right.X, right.Y)
	case markKnee:
		at := vg.Point{X: left.X + width/2, Y: left.Y}
		t.spot(c, at, e.color, false)
		t.ring(c, at)
	case markPoint:
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: e.color, Radius: t.pt(5), Shape: e.shape}, vg.Point{X: left.X + width/2, Y: left.Y})
	case markDot, markRing:
		t.spot(c, vg.Point{X: left.X + width/2, Y: left.Y}, e.color, e.mark == markRing)
	default:
		fillRect(c, e.color, left.X, left.Y-t.pt(6), right.X, left.Y+t.pt(6))
	}
}

// spot draws a point of a series, hollow or full.
func (t theme) spot(c draw.Canvas, at vg.Point, col color.Color, hollow bool) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: t.pt(5), Shape: draw.CircleGlyph{}}, at)
	if hollow {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: white, Radius: t.pt(3), Shape: draw.CircleGlyph{}}, at)
	}
}

// fillRect fills one rectangle. Rectangles are never gathered into one path:
// the rasteriser's time grows faster than their number.
func fillRect(c draw.Canvas, col color.Color, x0, y0, x1, y1 vg.Length) {
	c.SetColor(col)
	var p vg.Path
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x0, Y: y1})
	p.Close()
	c.Fill(p)
}

var oneLine = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

// clip makes text one line and shortens it until it is at most width wide.
func clip(sty draw.TextStyle, text string, width vg.Length) string {
	text = oneLine.Replace(text)
	if sty.Width(text) <= width {
		return text
	}
	for len(text) > 0 {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
		if sty.Width(text+"...") <= width {
			return text + "..."
		}
	}
	return ""
}
