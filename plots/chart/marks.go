package chart

import (
	"image/color"
	"math"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawMark draws what stands before a label of the legend.
func drawMark(c draw.Canvas, t Theme, e LegendEntry, left vg.Point, width vg.Length) {
	right := vg.Point{X: left.X + width, Y: left.Y}
	switch e.Mark {
	case MarkLine:
		c.StrokeLine2(draw.LineStyle{Color: e.Color, Width: t.Pt(2)}, left.X, left.Y, right.X, right.Y)
	case MarkDashes:
		c.StrokeLine2(t.Dashes(e.Color), left.X, left.Y, right.X, right.Y)
	case MarkKnee:
		at := vg.Point{X: left.X + width/2, Y: left.Y}
		t.Spot(c, at, e.Color, false)
		t.Ring(c, at)
	case MarkPoint:
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: e.Color, Radius: t.Pt(5), Shape: e.Shape},
			vg.Point{X: left.X + width/2, Y: left.Y})
	case MarkDot, MarkRing:
		t.Spot(c, vg.Point{X: left.X + width/2, Y: left.Y}, e.Color, e.Mark == MarkRing)
	default:
		FillRect(c, e.Color, left.X, left.Y-t.Pt(6), right.X, left.Y+t.Pt(6))
	}
}

// Spot draws a point of a series, hollow or full.
func (t Theme) Spot(c draw.Canvas, at vg.Point, col color.Color, hollow bool) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: t.Pt(5), Shape: draw.CircleGlyph{}}, at)
	if hollow {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: White, Radius: t.Pt(3), Shape: draw.CircleGlyph{}}, at)
	}
}

// Ring marks a spot that stands out.
func (t Theme) Ring(c draw.Canvas, at vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: Ink, Radius: t.Pt(8.5), Shape: draw.RingGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: Ink, Radius: t.Pt(9), Shape: draw.RingGlyph{}}, at)
}

// Inside writes text into a box of that colour where it fits.
func (t Theme) Inside(c draw.Canvas, text string, fill color.RGBA, x0, x1, mid, half vg.Length) {
	sty := t.Text(13)
	if half < t.Pt(9) || sty.Width(text) >= x1-x0-4*Dot {
		return
	}
	sty.XAlign, sty.YAlign, sty.Color = draw.XCenter, YMiddle, OnTop(fill)
	c.FillText(sty, vg.Point{X: (x0 + x1) / 2, Y: mid}, text)
}

// FillRect fills one rectangle. Rectangles are never gathered into one path:
// the rasteriser's time grows faster than their number.
func FillRect(c draw.Canvas, col color.Color, x0, y0, x1, y1 vg.Length) {
	c.SetColor(col)
	var p vg.Path
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x0, Y: y1})
	p.Close()
	c.Fill(p)
}

// Snap rounds to whole dots, so that edges are sharp.
func Snap(l vg.Length) vg.Length { return vg.Length(math.Round(float64(l/Dot))) * Dot }

var oneLine = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

// Clip makes text one line and shortens it until it is at most width wide.
func Clip(sty draw.TextStyle, text string, width vg.Length) string {
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
