package plots

import (
	"cmp"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim/report"
)

// linkBars draws the mean use of the busiest links for a run whose recording
// has no link counters.
func linkBars(rep *report.Report, o Options) (*Figure, error) {
	var loads []link
	if rep != nil {
		for _, l := range rep.Links {
			if l.Utilisation > 0 && l.Utilisation < 1e6 {
				loads = append(loads, link{name: l.Name, sort: sortOf(l.Name), mean: l.Utilisation, bytes: l.Bytes})
			}
		}
	}
	if len(loads) == 0 {
		return nil, errNoLinks
	}
	slices.SortStableFunc(loads, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.mean, a.mean), cmp.Compare(a.name, b.name))
	})
	chosen := chooseLinks(loads)
	return newFigure(o, page{
		title:    o.title(rep, "use of the busiest links"),
		subtitle: facts(stepFacts(rep), linkCount(len(chosen), len(loads))),
		legend:   []entry{{label: "bytes carried, as a share of what the link could carry in the step", color: slate}},
		body:     func(c draw.Canvas, t theme) { drawLinkBars(c, t, chosen) },
	}), nil
}

// linkCount tells how many links are shown of those that the recording or the
// report has: on a large cluster both hold the busiest only.
func linkCount(shown, all int) string {
	if shown == all {
		return strconv.Itoa(all) + " links with load"
	}
	return strconv.Itoa(shown) + " of the " + strconv.Itoa(all) + " recorded links with load"
}

func drawLinkBars(c draw.Canvas, t theme, links []link) {
	top := links[0].mean
	n := len(links)
	p := t.axes("mean use over the step (% of the capacity)", "")
	p.X.Min, p.X.Max = 0, top*1.25
	p.Y.Min, p.Y.Max = -float64(n)+0.5, 0.5
	p.X.Tick.Marker = linearTicks(p.X.Max, unit{"%", 0.01}, 8)
	var ticks plot.ConstantTicks
	for i, l := range links {
		ticks = append(ticks, plot.Tick{Value: -float64(i), Label: clip(t.text(13), l.name, c.Size().X/3)})
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length, p.Y.Width = 0, 0
	p.Add(t.grid(true, false), plotFunc(func(c draw.Canvas, p *plot.Plot) {
		half := min(barHalf(c, t, n), t.pt(22))
		sty := t.text(13)
		sty.YAlign = yMiddle
		for i, l := range links {
			mid, x := c.Y(p.Y.Norm(-float64(i))), snap(c.X(p.X.Norm(l.mean)))
			fillRect(c, slate, c.Min.X, snap(mid-half), x, snap(mid+half))
			c.FillText(sty, vg.Point{X: x + t.pt(6), Y: mid}, percent(l.mean)+"  ("+gibibytes(float64(l.bytes))+")")
		}
	}))
	p.Draw(draw.Crop(c, 0, -t.pt(14), 0, 0))
}
