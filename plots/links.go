package plots

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/plots/timeline"
	"trainsim/sim/report"
)

const errNoLinks = chart.Empty("plots: neither the recording nor the report has links with load to draw")

// links draws the load of the busiest links over the step, each as a share of
// its capacity. Links that differ in their numbers only (the same link of
// another GPU) count as one sort, and every sort is shown before a second of
// one. Without link counters the report's mean use is drawn; without that as
// well, the error says so.
func links(run *report.Run, o chart.Options) (*chart.Figure, error) {
	r, rep := run.Recording, run.Report
	end := timeline.End(r)
	loads := timeline.LinkLoads(r)
	if len(loads) == 0 || end <= 0 {
		return linkBars(rep, o)
	}
	chosen := timeline.Busiest(loads)
	slot := make([]int, len(r.Counters))
	for i := range slot {
		slot[i] = -1
	}
	for i, l := range chosen {
		slot[l.Counter] = i
	}
	f := &linkRows{links: chosen, Levels: timeline.Means(r, slot, len(chosen), end)}
	return chart.New(o, chart.Page{
		Title:    titleOf(o, rep, "use of the busiest links"),
		Subtitle: chart.Facts(stepFacts(rep), linkCount(len(chosen), len(loads))),
		Legend: []chart.LegendEntry{{Label: "load as a share of the link's capacity (dotted line: all of it)",
			Color: chart.Slate}},
		Body: f.body,
	})
}

type linkRows struct {
	timeline.Levels
	links []timeline.Link
}

// rowShare is how much of a link's row its full load takes.
const rowShare = 0.8

func (f *linkRows) body(c draw.Canvas, t chart.Theme) {
	u := chart.TimeUnit(f.End.Seconds())
	p := t.Axes("time in the step ("+u.Name+")", "")
	n := len(f.links)
	p.X.Min, p.X.Max = 0, f.End.Seconds()
	p.Y.Min, p.Y.Max = -float64(n), 0
	p.X.Tick.Marker = chart.LinearTicks(p.X.Max, u, 10)
	var ticks plot.ConstantTicks
	name := t.Text(13)
	for i, l := range f.links {
		ticks = append(ticks, plot.Tick{Value: -float64(i) - 1 + rowShare/2,
			Label: chart.Clip(name, l.Name, c.Size().X/4)})
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length = 0
	p.Add(t.Grid(true, false), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) { f.draw(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.Pt(118), 0, 0))
}

func (f *linkRows) draw(c draw.Canvas, p *plot.Plot, t chart.Theme) {
	thin := draw.LineStyle{Color: chart.SoftInk, Width: t.Pt(0.8), Dashes: []vg.Length{t.Pt(2), t.Pt(3)}}
	for i, l := range f.links {
		base := -float64(i) - 1
		share := make([]float64, timeline.Columns)
		most := 0.0
		for col, v := range f.Value[i] {
			share[col] = base + rowShare*min(math.Max(v/l.Capacity, 0), 1)
			most = max(most, v/l.Capacity)
		}
		y0, y1 := c.Y(p.Y.Norm(base)), c.Y(p.Y.Norm(base+rowShare))
		pts := timeline.Outline(share, c, p, f.End.Seconds())
		pts = append(pts, vg.Point{X: pts[len(pts)-1].X, Y: y0}, vg.Point{X: pts[0].X, Y: y0})
		c.FillPolygon(chart.Slate, pts)
		c.StrokeLine2(thin, c.Min.X, y1, c.Max.X, y1)
		c.StrokeLine2(draw.LineStyle{Color: chart.Ink, Width: t.Pt(0.8)}, c.Min.X, y0, c.Max.X, y0)
		f.note(c, t, l, y0, y1)
	}
}

// note says the mean load and the capacity right of the row.
func (f *linkRows) note(c draw.Canvas, t chart.Theme, l timeline.Link, y0, y1 vg.Length) {
	sty := t.Style(13, true)
	sty.YAlign = chart.YMiddle
	mid := (y0 + y1) / 2
	c.FillText(sty, vg.Point{X: c.Max.X + t.Pt(10), Y: mid + t.Pt(8)}, "mean "+chart.Percent(l.Mean))
	sty = t.Text(12)
	sty.YAlign = chart.YMiddle
	u := chart.PickUnit(chart.RateUnits, l.Capacity)
	c.FillText(sty, vg.Point{X: c.Max.X + t.Pt(10), Y: mid - t.Pt(8)},
		"of "+chart.Significant(l.Capacity/u.Scale, 3)+" "+u.Name)
}

// linkBars draws the mean use of the busiest links for a run whose recording
// has no link counters.
func linkBars(rep *report.Report, o chart.Options) (*chart.Figure, error) {
	var loads []timeline.Link
	if rep != nil {
		for _, l := range rep.Links {
			if l.Utilisation > 0 && l.Utilisation < 1e6 {
				loads = append(loads, timeline.Link{Name: l.Name, Mean: l.Utilisation, Bytes: l.Bytes})
			}
		}
	}
	if len(loads) == 0 {
		return nil, errNoLinks
	}
	slices.SortStableFunc(loads, func(a, b timeline.Link) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Name, b.Name))
	})
	chosen := timeline.Busiest(loads)
	return chart.New(o, chart.Page{
		Title:    titleOf(o, rep, "use of the busiest links"),
		Subtitle: chart.Facts(stepFacts(rep), linkCount(len(chosen), len(loads))),
		Legend: []chart.LegendEntry{{Label: "bytes carried, as a share of what the link could carry in the step",
			Color: chart.Slate}},
		Body: func(c draw.Canvas, t chart.Theme) { drawLinkBars(c, t, chosen) },
	})
}

// linkCount tells how many links are shown of those that the recording or the
// report has: on a large cluster both hold the busiest only.
func linkCount(shown, all int) string {
	if shown == all {
		return strconv.Itoa(all) + " links with load"
	}
	return strconv.Itoa(shown) + " of the " + strconv.Itoa(all) + " recorded links with load"
}

func drawLinkBars(c draw.Canvas, t chart.Theme, links []timeline.Link) {
	top := links[0].Mean
	var names []string
	for _, l := range links {
		names = append(names, chart.Clip(t.Text(13), l.Name, c.Size().X/3))
	}
	p := t.RowAxes("mean use over the step (% of the capacity)", names)
	p.X.Min, p.X.Max = 0, top*1.25
	p.X.Tick.Marker = chart.LinearTicks(p.X.Max, chart.Percents, 8)
	p.Add(t.Grid(true, false), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) {
		half := min(chart.BarHalf(c, t, len(links)), t.Pt(22))
		sty := t.Text(13)
		sty.YAlign = chart.YMiddle
		for i, l := range links {
			mid, x := c.Y(p.Y.Norm(-float64(i))), chart.Snap(c.X(p.X.Norm(l.Mean)))
			chart.FillRect(c, chart.Slate, c.Min.X, chart.Snap(mid-half), x, chart.Snap(mid+half))
			c.FillText(sty, vg.Point{X: x + t.Pt(6), Y: mid},
				chart.Percent(l.Mean)+"  ("+chart.Gibibytes(float64(l.Bytes))+")")
		}
	}))
	p.Draw(draw.Crop(c, 0, -t.Pt(14), 0, 0))
}
