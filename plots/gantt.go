package plots

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim/trace"
)

// box is one interval of a Gantt row, in the unit of the time axis.
type box struct {
	start, end float64
	kind       trace.Kind
	number     int // written inside where it fits; negative for none
	chunk      int
}

// row is one lane of a Gantt chart.
type row struct {
	label string
	thin  bool // a communication stream under its rank
	boxes []box
	end   float64 // where the row ends, the chart's end if 0
	// heading is written over the rows under it; such a row has no boxes.
	heading string
}

// gantt draws rows from the top, idle time as background.
type gantt struct {
	rows   []row
	end    float64 // makespan
	step   float64 // end of the step, where something follows it
	chunks int     // model chunks a rank, at least 1
	theme  theme
}

const (
	thinRow    = 0.32
	headingRow = 0.8
	rowGap     = 0.12
	// footShare of a box marks the last model chunk; numbers stand above it.
	footShare = 0.3
)

// place is the room of one row, in row heights from the top.
type place struct{ top, bottom float64 }

func (g *gantt) places() ([]place, float64) {
	out := make([]place, len(g.rows))
	y := 0.0
	for i, r := range g.rows {
		h := 1.0
		switch {
		case r.heading != "":
			h = headingRow
			y += rowGap
		case r.thin:
			h = thinRow
			y += rowGap / 3
		case i > 0:
			y += rowGap
		}
		out[i] = place{y, y + h}
		y += h
	}
	return out, y
}

// tallest is the height in points over which a row gets no easier to read.
const tallest = 200

// drawOn draws the chart with its axes, at the top of c where rows are few.
func (g *gantt) drawOn(c draw.Canvas, xLabel string, ticks plot.ConstantTicks) {
	_, height := g.places()
	need := vg.Length(height)*g.theme.pt(tallest) + g.theme.pt(50)
	g.plot(xLabel, ticks).Draw(draw.Crop(c, 0, 0, max(0, c.Size().Y-need), 0))
}

// plot builds the chart's axes.
func (g *gantt) plot(xLabel string, ticks plot.ConstantTicks) *plot.Plot {
	p := g.theme.axes(xLabel, "")
	p.X.Min, p.X.Max = 0, g.end*1.005
	p.X.Tick.Marker = ticks
	places, height := g.places()
	p.Y.Min, p.Y.Max = -height, 0
	p.Y.Tick.Length = 0
	p.Y.Width = 0
	var labels plot.ConstantTicks
	for i, r := range g.rows {
		if r.label != "" {
			labels = append(labels, plot.Tick{Value: -(places[i].top + places[i].bottom) / 2, Label: r.label})
		}
	}
	p.Y.Tick.Marker = labels
	p.Add(plotFunc(g.draw))
	return p
}

func (g *gantt) draw(c draw.Canvas, p *plot.Plot) {
	places, height := g.places()
	unit := c.Size().Y / vg.Length(height)
	fontSize := g.fontSize(c, unit)
	for i, r := range g.rows {
		y1 := snap(c.Max.Y - vg.Length(places[i].top)*unit)
		y0 := snap(c.Max.Y - vg.Length(places[i].bottom)*unit)
		x := func(v float64) vg.Length { return c.X(p.X.Norm(v)) }
		if r.heading != "" {
			g.drawHeading(c, r.heading, y0, y1)
			continue
		}
		fillRect(c, idleGrey, c.Min.X, y0, snap(x(g.endOf(r))), y1)
		if r.thin {
			drawShares(c, r.boxes, x, y0, y1)
			continue
		}
		for _, b := range merge(r.boxes, x) {
			g.drawBox(c, b, y0, y1)
		}
		if fontSize > 0 {
			if g.chunks > 1 {
				y0 += (y1 - y0) * footShare
			}
			g.drawNumbers(c, r, x, (y0+y1)/2, fontSize)
		}
	}
	g.drawEnds(c, p, places, unit)
}

// endOf is where a row ends.
func (g *gantt) endOf(r row) float64 {
	if r.end > 0 {
		return r.end
	}
	return g.end
}

// drawEnds draws the end of the step beside the rows of each pipeline; a heading
// begins the next one.
func (g *gantt) drawEnds(c draw.Canvas, p *plot.Plot, places []place, unit vg.Length) {
	sty := draw.LineStyle{Color: ink, Width: g.theme.pt(1.5)}
	first := -1
	for i, r := range g.rows {
		if r.heading != "" {
			first = -1
			continue
		}
		if first < 0 {
			first = i
		}
		if i+1 == len(g.rows) || g.rows[i+1].heading != "" {
			end := g.endOf(r)
			if g.step > 0 {
				end = g.step
			}
			x := c.X(p.X.Norm(end))
			c.StrokeLine2(sty, x, c.Max.Y-vg.Length(places[i].bottom)*unit, x, c.Max.Y-vg.Length(places[first].top)*unit)
		}
	}
}

func (g *gantt) drawHeading(c draw.Canvas, text string, y0, y1 vg.Length) {
	size := min(13, float64(y1-y0)/g.theme.scale)
	sty := g.theme.style(size, true)
	sty.YAlign = yMiddle
	c.FillText(sty, vg.Point{X: c.Min.X + g.theme.pt(2), Y: (y0 + y1) / 2}, clip(sty, text, c.Size().X))
}

// snap rounds to whole dots, so that edges are sharp.
func snap(l vg.Length) vg.Length { return vg.Length(math.Round(float64(l/dot))) * dot }

// drawBox draws one box with a seam at its right edge, and a dark foot that is
// higher for a later model chunk.
func (g *gantt) drawBox(c draw.Canvas, b inked, y0, y1 vg.Length) {
	x1 := b.x1
	if x1-b.x0 >= 4*dot {
		x1 -= dot
	}
	col := KindColor(b.kind)
	fillRect(c, col, b.x0, y0, x1, y1)
	if b.chunk > 0 && g.chunks > 1 {
		foot := (y1 - y0) * vg.Length(footShare*float64(b.chunk)/float64(g.chunks-1))
		fillRect(c, darken(col, 0.55), b.x0, y0, x1, y0+foot)
	}
}

// fontSize returns the size in which most numbers fit their boxes, or 0.
func (g *gantt) fontSize(c draw.Canvas, unit vg.Length) float64 {
	widest := 0
	narrow := math.Inf(1)
	for _, r := range g.rows {
		for _, b := range r.boxes {
			if b.number >= 0 && !r.thin && b.end > b.start {
				widest = max(widest, len(strconv.Itoa(b.number)))
				narrow = min(narrow, b.end-b.start)
			}
		}
	}
	if widest == 0 {
		return 0
	}
	room := float64(c.Size().X)*narrow/(g.end*1.005) - 3*float64(dot)
	size := min(room/(0.56*float64(widest)), 0.6*float64(unit)) / g.theme.scale
	return min(14, max(size, smallestNumber))
}

// smallestNumber is the smallest legible size of a micro-batch number.
const smallestNumber = 8

func (g *gantt) drawNumbers(c draw.Canvas, r row, x func(float64) vg.Length, y vg.Length, size float64) {
	sty := g.theme.text(size)
	sty.XAlign, sty.YAlign = draw.XCenter, yMiddle
	digit := sty.Width("0")
	for _, b := range r.boxes {
		if b.number < 0 {
			continue
		}
		text := strconv.Itoa(b.number)
		x0, x1 := x(b.start), x(b.end)
		if digit*vg.Length(len(text))+2*dot <= x1-x0 {
			sty.Color = onTop(KindColor(b.kind))
			c.FillText(sty, vg.Point{X: (x0 + x1) / 2, Y: y}, text)
		}
	}
}

// visible is the share, one over this, from which a thing can be seen on an
// axis: a legend names nothing that cannot be found.
const visible = 2000

// legend lists the kinds that can be seen, in the order of the table.
func (g *gantt) legend() []entry {
	var most [trace.NumKinds]float64
	for _, r := range g.rows {
		for k, t := range busy(r.boxes) {
			most[k] = max(most[k], t)
		}
	}
	var out []entry
	for k, s := range kindStyles {
		if most[k] > g.end/visible && trace.Kind(k) != trace.Bubble {
			out = append(out, entry{label: s.label, color: s.color})
		}
	}
	idle := kindStyles[trace.Bubble]
	out = append(out, entry{label: idle.label, color: idle.color})
	if g.chunks > 1 {
		out = append(out, entry{label: "dark foot: later model chunk", color: darken(blue, 0.55)})
	}
	return append(out, entry{label: "end of the step", color: ink, mark: markLine})
}

func total(boxes []box) float64 {
	sum := 0.0
	for _, t := range busy(boxes) {
		sum += t
	}
	return sum
}

// busy sums the time of each kind.
func busy(boxes []box) [trace.NumKinds]float64 {
	var sum [trace.NumKinds]float64
	for _, b := range boxes {
		if b.kind < trace.NumKinds {
			sum[b.kind] += b.end - b.start
		}
	}
	return sum
}
