package gantt

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
)

func (g *Chart) draw(c draw.Canvas, p *plot.Plot) {
	places, height := g.places()
	unit := c.Size().Y / vg.Length(height)
	fontSize := g.fontSize(c, unit)
	for i, r := range g.Rows {
		y1 := chart.Snap(c.Max.Y - vg.Length(places[i].top)*unit)
		y0 := chart.Snap(c.Max.Y - vg.Length(places[i].bottom)*unit)
		x := func(v float64) vg.Length { return c.X(p.X.Norm(v)) }
		if r.Heading != "" {
			g.drawHeading(c, r.Heading, y0, y1)
			continue
		}
		chart.FillRect(c, chart.IdleGrey, c.Min.X, y0, chart.Snap(x(g.endOf(r))), y1)
		if r.Thin {
			drawShares(c, r.Boxes, x, y0, y1)
			continue
		}
		for _, b := range merge(r.Boxes, x) {
			g.drawBox(c, b, y0, y1)
		}
		if fontSize > 0 {
			if g.Chunks > 1 {
				y0 += (y1 - y0) * footShare
			}
			g.drawNumbers(c, r, x, (y0+y1)/2, fontSize)
		}
	}
	g.drawEnds(c, p, places, unit)
}

// drawEnds draws the end of the step beside the rows of each pipeline; a heading
// begins the next one.
func (g *Chart) drawEnds(c draw.Canvas, p *plot.Plot, places []place, unit vg.Length) {
	sty := draw.LineStyle{Color: chart.Ink, Width: g.theme.Pt(1.5)}
	first := -1
	for i, r := range g.Rows {
		if r.Heading != "" {
			first = -1
			continue
		}
		if first < 0 {
			first = i
		}
		if i+1 == len(g.Rows) || g.Rows[i+1].Heading != "" {
			end := g.endOf(r)
			if g.Step > 0 {
				end = g.Step
			}
			x := c.X(p.X.Norm(end))
			c.StrokeLine2(sty, x, c.Max.Y-vg.Length(places[i].bottom)*unit, x,
				c.Max.Y-vg.Length(places[first].top)*unit)
		}
	}
}

func (g *Chart) drawHeading(c draw.Canvas, text string, y0, y1 vg.Length) {
	size := min(13, float64(y1-y0)/g.theme.Scale)
	sty := g.theme.Style(size, true)
	sty.YAlign = chart.YMiddle
	c.FillText(sty, vg.Point{X: c.Min.X + g.theme.Pt(2), Y: (y0 + y1) / 2}, chart.Clip(sty, text, c.Size().X))
}

// drawBox draws one box with a seam at its right edge, and a dark foot that is
// higher for a later model chunk.
func (g *Chart) drawBox(c draw.Canvas, b inked, y0, y1 vg.Length) {
	x1 := b.x1
	if x1-b.x0 >= 4*chart.Dot {
		x1 -= chart.Dot
	}
	col := chart.KindColor(b.kind)
	chart.FillRect(c, col, b.x0, y0, x1, y1)
	if b.chunk > 0 && g.Chunks > 1 {
		foot := (y1 - y0) * vg.Length(footShare*float64(b.chunk)/float64(g.Chunks-1))
		chart.FillRect(c, chart.Darken(col, 0.55), b.x0, y0, x1, y0+foot)
	}
}

// fontSize returns the size in which most numbers fit their boxes, or 0.
func (g *Chart) fontSize(c draw.Canvas, unit vg.Length) float64 {
	widest := 0
	narrow := math.Inf(1)
	for _, r := range g.Rows {
		for _, b := range r.Boxes {
			if b.Number >= 0 && !r.Thin && b.End > b.Start {
				widest = max(widest, len(strconv.Itoa(b.Number)))
				narrow = min(narrow, b.End-b.Start)
			}
		}
	}
	if widest == 0 {
		return 0
	}
	room := float64(c.Size().X)*narrow/(g.End*1.005) - 3*float64(chart.Dot)
	size := min(room/(0.56*float64(widest)), 0.6*float64(unit)) / g.theme.Scale
	return min(14, max(size, smallestNumber))
}

// smallestNumber is the smallest legible size of a micro-batch number.
const smallestNumber = 8

func (g *Chart) drawNumbers(c draw.Canvas, r Row, x func(float64) vg.Length, y vg.Length, size float64) {
	sty := g.theme.Text(size)
	sty.XAlign, sty.YAlign = draw.XCenter, chart.YMiddle
	digit := sty.Width("0")
	for _, b := range r.Boxes {
		if b.Number < 0 {
			continue
		}
		text := strconv.Itoa(b.Number)
		x0, x1 := x(b.Start), x(b.End)
		if digit*vg.Length(len(text))+2*chart.Dot <= x1-x0 {
			sty.Color = chart.OnTop(chart.KindColor(b.Kind))
			c.FillText(sty, vg.Point{X: (x0 + x1) / 2, Y: y}, text)
		}
	}
}
