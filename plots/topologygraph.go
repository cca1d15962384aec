package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
)

// shown is how many devices the graph shows: the GPUs, and on a node with fewer
// than three of them the cards as well.
func (t *TopologyChart) shown() int {
	if t.GPUs < 3 {
		return len(t.Devices)
	}
	return t.GPUs
}

// places puts the devices of the graph on a circle, in the order of the ring; a
// single one stands in its middle.
func (t *TopologyChart) places(centre vg.Point, radius vg.Length) []vg.Point {
	order := t.order()
	at := make([]vg.Point, len(order))
	if len(order) == 1 {
		return []vg.Point{centre}
	}
	for i, g := range order {
		angle := math.Pi/2 - 2*math.Pi*float64(i)/float64(len(order))
		at[g] = vg.Point{X: centre.X + radius*vg.Length(math.Cos(angle)),
			Y: centre.Y + radius*vg.Length(math.Sin(angle))}
	}
	return at
}

// drawGraph draws the devices on a circle, far ways first so that near ones lie
// on top.
func (t *TopologyChart) drawGraph(c draw.Canvas, th chart.Theme, side vg.Length) {
	centre := vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Max.Y - side/2}
	radius := side/2 - th.Pt(34)
	if n := vg.Length(t.shown()); n < 4 { // beside a small table
		_, cell := t.cell(th, side)
		radius = side / 5
		centre.Y = c.Max.Y - max(th.Pt(20)+cell*n/2, radius+th.Pt(30))
	}
	at := t.places(centre, radius)
	for class := len(pathStyles) - 1; class >= 0; class-- {
		for a := range at {
			for b := range a {
				if pathClass(t.Cells[a][b]) == class {
					s := pathStyles[class]
					c.StrokeLine2(draw.LineStyle{Color: s.color, Width: th.Pt(s.width)}, at[a].X, at[a].Y, at[b].X,
						at[b].Y)
				}
			}
		}
	}
	for i := range t.Ring {
		a, b := at[t.Ring[i]], at[t.Ring[(i+1)%len(t.Ring)]]
		if len(t.Ring) > 2 {
			c.StrokeLine2(th.Dashes(chart.Ink), a.X, a.Y, b.X, b.Y)
		}
	}
	for i := range at {
		drawDevice(c, th, at[i], t.Devices[i])
	}
}

// order is the ring, or the GPUs as they are numbered, and then the cards that
// the graph shows.
func (t *TopologyChart) order() []int {
	order := make([]int, 0, t.shown())
	if len(t.Ring) == t.GPUs {
		order = append(order, t.Ring...)
	}
	for i := len(order); i < t.shown(); i++ {
		order = append(order, i)
	}
	return order
}

// drawDevice draws one GPU of the graph with its name.
func drawDevice(c draw.Canvas, t chart.Theme, at vg.Point, name string) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: chart.Ink, Radius: t.Pt(25), Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: chart.White, Radius: t.Pt(23), Shape: draw.CircleGlyph{}}, at)
	sty := t.Fit(12, true, name, t.Pt(42))
	sty.XAlign, sty.YAlign = draw.XCenter, chart.YMiddle
	c.FillText(sty, at, chart.Clip(sty, name, t.Pt(44)))
}
