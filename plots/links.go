package plots

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

var errNoLinks = errors.New("plots: neither the recording nor the report has links with load to draw")

// shownLinks is how many links a figure has room for.
const shownLinks = 8

// Links draws the load of the busiest links over the step, each as a share of
// its capacity. Links that differ in their numbers only (the same link of
// another GPU) count as one sort, and every sort is shown before a second of
// one. Without link counters the report's mean use is drawn; without that as
// well, the error says so.
func Links(r *trace.Recording, rep *report.Report, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	end := recordingEnd(r)
	loads := linkLoads(r)
	if len(loads) == 0 || end <= 0 {
		return linkBars(rep, o)
	}
	chosen := chooseLinks(loads)
	slot := make([]int, len(r.Counters))
	for i := range slot {
		slot[i] = -1
	}
	for i, l := range chosen {
		slot[l.counter] = i
	}
	f := &linkRows{links: chosen, levels: means(r, slot, len(chosen), end)}
	return newFigure(o, page{
		title:    o.title(rep, "use of the busiest links"),
		subtitle: facts(stepFacts(rep), linkCount(len(chosen), len(loads))),
		legend:   []entry{{label: "load as a share of the link's capacity (dotted line: all of it)", color: slate}},
		body:     f.body,
	}), nil
}

// link is one counter with its mean load.
type link struct {
	counter  int
	name     string
	sort     string  // name without digits
	capacity float64 // bytes/s, or the largest rate seen when it is not known
	mean     float64 // share of capacity
	bytes    int64   // carried over the step, where no counter says more
}

// linkLoads returns the links with any load, busiest first.
func linkLoads(r *trace.Recording) []link {
	end := float64(recordingEnd(r))
	area := make([]float64, len(r.Counters))
	largest := make([]float64, len(r.Counters))
	from := make([]float64, len(r.Counters))
	now := make([]float64, len(r.Counters))
	slot := make([]int, len(r.Counters))
	for i, c := range r.Counters {
		slot[i] = -1
		if c.Kind == trace.LinkRate {
			slot[i] = i
		}
	}
	samplesOf(r, slot, func(at sim.Time, s int, change float64) {
		area[s] += now[s] * (float64(at) - from[s])
		from[s] = float64(at)
		now[s] += change
		largest[s] = max(largest[s], now[s])
	})
	var out []link
	for i, c := range r.Counters {
		area[i] += now[i] * (end - from[i])
		if largest[i] <= 0 {
			continue
		}
		capacity := c.Limit
		if !(capacity > 0) {
			capacity = largest[i]
		}
		out = append(out, link{counter: i, name: c.Name, sort: sortOf(c.Name), capacity: capacity, mean: area[i] / end / capacity})
	}
	slices.SortStableFunc(out, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.mean, a.mean), cmp.Compare(a.name, b.name))
	})
	return out
}

// sortOf drops the digits of a name.
func sortOf(name string) string {
	out := make([]rune, 0, len(name))
	for _, c := range name {
		if c < '0' || c > '9' {
			out = append(out, c)
		}
	}
	return string(out)
}

// chooseLinks deals the links out by sort, busiest first, until the figure is
// full, and returns them busiest first.
func chooseLinks(loads []link) []link {
	var sorts []string
	bySort := map[string][]link{}
	for _, l := range loads {
		if len(bySort[l.sort]) == 0 {
			sorts = append(sorts, l.sort)
		}
		bySort[l.sort] = append(bySort[l.sort], l)
	}
	var out []link
	for round := 0; len(out) < min(shownLinks, len(loads)); round++ {
		for _, s := range sorts {
			if round < len(bySort[s]) && len(out) < shownLinks {
				out = append(out, bySort[s][round])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b link) int { return cmp.Compare(b.mean, a.mean) })
	return out
}

type linkRows struct {
	levels
	links []link
}

// rowShare is how much of a link's row its full load takes.
const rowShare = 0.8

func (f *linkRows) body(c draw.Canvas, t theme) {
	u := timeUnit(f.end.Seconds())
	p := t.axes("time in the step ("+u.name+")", "")
	n := len(f.links)
	p.X.Min, p.X.Max = 0, f.end.Seconds()
	p.Y.Min, p.Y.Max = -float64(n), 0
	p.X.Tick.Marker = linearTicks(p.X.Max, u, 10)
	var ticks plot.ConstantTicks
	name := t.text(13)
	for i, l := range f.links {
		ticks = append(ticks, plot.Tick{Value: -float64(i) - 1 + rowShare/2, Label: clip(name, l.name, c.Size().X/4)})
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length = 0
	p.Add(t.grid(true, false), plotFunc(func(c draw.Canvas, p *plot.Plot) { f.draw(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.pt(118), 0, 0))
}

func (f *linkRows) draw(c draw.Canvas, p *plot.Plot, t theme) {
	thin := draw.LineStyle{Color: softInk, Width: t.pt(0.8), Dashes: []vg.Length{t.pt(2), t.pt(3)}}
	for i, l := range f.links {
		base := -float64(i) - 1
		share := make([]float64, columns)
		most := 0.0
		for col, v := range f.value[i] {
			share[col] = base + rowShare*min(math.Max(v/l.capacity, 0), 1)
			most = max(most, v/l.capacity)
		}
		y0, y1 := c.Y(p.Y.Norm(base)), c.Y(p.Y.Norm(base+rowShare))
		pts := outline(share, c, p, f.end.Seconds())
		pts = append(pts, vg.Point{X: pts[len(pts)-1].X, Y: y0}, vg.Point{X: pts[0].X, Y: y0})
		c.FillPolygon(slate, pts)
		c.StrokeLine2(thin, c.Min.X, y1, c.Max.X, y1)
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: t.pt(0.8)}, c.Min.X, y0, c.Max.X, y0)
		f.note(c, t, l, y0, y1)
	}
}

// note says the mean load and the capacity right of the row.
func (f *linkRows) note(c draw.Canvas, t theme, l link, y0, y1 vg.Length) {
	sty := t.style(13, true)
	sty.YAlign = yMiddle
	mid := (y0 + y1) / 2
	c.FillText(sty, vg.Point{X: c.Max.X + t.pt(10), Y: mid + t.pt(8)}, "mean "+percent(l.mean))
	sty = t.text(12)
	sty.YAlign = yMiddle
	u := pick(rateUnits, l.capacity)
	c.FillText(sty, vg.Point{X: c.Max.X + t.pt(10), Y: mid - t.pt(8)}, "of "+sig(l.capacity/u.scale, 3)+" "+u.name)
}
