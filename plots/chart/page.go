package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Page is the layout that all figures share: title, subtitle and legend above
// the body, so that nothing lies on the data.
type Page struct {
	Title, Subtitle string
	Legend          []LegendEntry
	Body            func(c draw.Canvas, t Theme)
}

// Mark is how a legend entry is drawn.
type Mark uint8

// Marks of a legend.
const (
	MarkBox Mark = iota
	MarkLine
	MarkDashes
	MarkDot
	MarkRing
	MarkKnee  // a dot with a ring around it
	MarkPoint // in the entry's shape
)

// LegendEntry is one line of a legend.
type LegendEntry struct {
	Label string
	Color color.RGBA
	Mark  Mark
	Shape draw.GlyphDrawer // of MarkPoint
}

func (p *Page) draw(c draw.Canvas) {
	t := themeFor(c.Size())
	c.SetColor(White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, t.Pt(18), -t.Pt(18), t.Pt(12), -t.Pt(14))
	top := c.Max.Y
	line := func(size float64, bold bool, col color.RGBA, text string) {
		if text == "" {
			return
		}
		sty := t.Fit(size, bold, text, c.Size().X)
		sty.Color = col
		sty.YAlign = draw.YTop
		c.FillText(sty, vg.Point{X: c.Min.X, Y: top}, Clip(sty, text, c.Size().X))
		top -= t.Pt(size * 1.35)
	}
	line(20, true, Ink, p.Title)
	line(14, false, SoftInk, p.Subtitle)
	top -= t.Pt(4)
	c.Max.Y = top
	c.Max.Y -= DrawLegend(c, t, p.Legend)
	p.Body(c, t)
}

// DrawLegend fills rows from the left and returns the height they take.
func DrawLegend(c draw.Canvas, t Theme, entries []LegendEntry) vg.Length {
	if len(entries) == 0 {
		return t.Pt(4)
	}
	sty := t.Text(13)
	sty.YAlign = YMiddle
	row, gap, swatch := t.Pt(19), t.Pt(18), t.Pt(22)
	x, y := c.Min.X, c.Max.Y-row/2
	for _, e := range entries {
		label := Clip(sty, e.Label, c.Size().X-swatch-t.Pt(6))
		width := swatch + t.Pt(6) + sty.Width(label)
		if x+width > c.Max.X && x > c.Min.X {
			x, y = c.Min.X, y-row
		}
		drawMark(c, t, e, vg.Point{X: x, Y: y}, swatch)
		c.FillText(sty, vg.Point{X: x + swatch + t.Pt(6), Y: y}, label)
		x += width + gap
	}
	return c.Max.Y - y + row/2 + t.Pt(8)
}

// Visible is the share, one over this, from which a thing can be seen on an
// axis: a legend names nothing that cannot be found.
const Visible = 2000

// MaxRows is how many stages a figure can show with a row of some dots each.
const MaxRows = 256
