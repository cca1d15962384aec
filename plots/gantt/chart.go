package gantt

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/trace"
)

// Box is one interval of a Gantt row, in the unit of the time axis.
type Box struct {
	Start, End float64
	Kind       trace.Kind
	Number     int // written inside where it fits; negative for none
	Chunk      int
}

// Row is one lane of a Gantt chart.
type Row struct {
	Label string
	Thin  bool // a communication stream under its rank
	Boxes []Box
	End   float64 // where the row ends, the chart's end if 0
	// Heading is written over the rows under it; such a row has no boxes.
	Heading string
}

// Chart draws rows from the top, idle time as background.
type Chart struct {
	Rows   []Row
	End    float64 // makespan
	Step   float64 // end of the step, where something follows it
	Chunks int     // model chunks a rank, at least 1
	theme  chart.Theme
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

func (g *Chart) places() ([]place, float64) {
	out := make([]place, len(g.Rows))
	y := 0.0
	for i, r := range g.Rows {
		h := 1.0
		switch {
		case r.Heading != "":
			h = headingRow
			y += rowGap
		case r.Thin:
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

// Draw draws the chart with its axes, at the top of c where rows are few.
func (g *Chart) Draw(c draw.Canvas, t chart.Theme, xLabel string, ticks plot.ConstantTicks) {
	g.theme = t
	_, height := g.places()
	need := vg.Length(height)*g.theme.Pt(tallest) + g.theme.Pt(50)
	g.plot(xLabel, ticks).Draw(draw.Crop(c, 0, 0, max(0, c.Size().Y-need), 0))
}

// plot builds the chart's axes.
func (g *Chart) plot(xLabel string, ticks plot.ConstantTicks) *plot.Plot {
	p := g.theme.Axes(xLabel, "")
	p.X.Min, p.X.Max = 0, g.End*1.005
	p.X.Tick.Marker = ticks
	places, height := g.places()
	p.Y.Min, p.Y.Max = -height, 0
	p.Y.Tick.Length = 0
	p.Y.Width = 0
	var labels plot.ConstantTicks
	for i, r := range g.Rows {
		if r.Label != "" {
			labels = append(labels, plot.Tick{Value: -(places[i].top + places[i].bottom) / 2, Label: r.Label})
		}
	}
	p.Y.Tick.Marker = labels
	p.Add(chart.PlotFunc(g.draw))
	return p
}

// endOf is where a row ends.
func (g *Chart) endOf(r Row) float64 {
	if r.End > 0 {
		return r.End
	}
	return g.End
}

// Legend lists the kinds that can be seen, in the order of the table.
func (g *Chart) Legend() []chart.LegendEntry {
	var most [trace.NumKinds]float64
	for _, r := range g.Rows {
		for k, t := range busy(r.Boxes) {
			most[k] = max(most[k], t)
		}
	}
	var out []chart.LegendEntry
	for k, s := range chart.KindStyles {
		if most[k] > g.End/chart.Visible && trace.Kind(k) != trace.Bubble {
			out = append(out, chart.LegendEntry{Label: s.Label, Color: s.Color})
		}
	}
	idle := chart.KindStyles[trace.Bubble]
	out = append(out, chart.LegendEntry{Label: idle.Label, Color: idle.Color})
	if g.Chunks > 1 {
		out = append(out, chart.LegendEntry{Label: "dark foot: later model chunk",
			Color: chart.Darken(chart.Blue, 0.55)})
	}
	return append(out, chart.LegendEntry{Label: "end of the step", Color: chart.Ink, Mark: chart.MarkLine})
}

func total(boxes []Box) float64 {
	sum := 0.0
	for _, t := range busy(boxes) {
		sum += t
	}
	return sum
}

// busy sums the time of each kind.
func busy(boxes []Box) [trace.NumKinds]float64 {
	var sum [trace.NumKinds]float64
	for _, b := range boxes {
		if b.Kind < trace.NumKinds {
			sum[b.Kind] += b.End - b.Start
		}
	}
	return sum
}
