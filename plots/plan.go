package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim/report"
)

var errNoPlan = errors.New("plots: the plan has no layout that fits")

// Plan draws what a planner found: on the left the front of step time against
// peak memory, a line a number of GPUs, with the ranks of the fastest layouts;
// on the right where the step of each of the fastest goes or, for several
// numbers of GPUs, the fastest step over the GPUs beside ideal scaling. A plan
// without a layout is an error.
func Plan(p *report.Plan, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if len(p.Sizes) == 0 {
		return nil, errNoPlan
	}
	f := newPlanFigure(p)
	title := o.Title
	if title == "" {
		title = fmt.Sprintf("%s: layouts for a global batch of %d", p.Scenario, p.Batch)
	}
	return newFigure(o, page{title: title, subtitle: f.facts(), legend: f.legend(), body: f.body}), nil
}

type planFigure struct {
	plan     *report.Plan
	slowest  float64 // of what is drawn, seconds
	fastest  float64
	memory   float64
	capacity float64
}

func newPlanFigure(p *report.Plan) *planFigure {
	f := &planFigure{plan: p, fastest: math.Inf(1)}
	for i := range p.Sizes {
		s := &p.Sizes[i]
		for _, list := range [][]report.PlanEntry{s.Best, s.Front} {
			for k := range list {
				f.slowest, f.fastest = max(f.slowest, list[k].StepTime), min(f.fastest, list[k].StepTime)
				f.memory = max(f.memory, float64(list[k].PeakMemory))
				f.capacity = max(f.capacity, float64(list[k].Capacity))
			}
		}
	}
	return f
}

func (f *planFigure) facts() string {
	if len(f.plan.Sizes) > 1 {
		last := f.plan.Scaling[len(f.plan.Scaling)-1]
		return facts(fmt.Sprintf("shortest step: %s on %d GPUs", seconds(last.StepTime), last.GPUs))
	}
	best := &f.plan.Sizes[0].Best[0]
	return facts(fmt.Sprintf("%d GPUs", f.plan.Sizes[0].GPUs), "fastest: "+report.LayoutLabel(best.Settings), seconds(best.StepTime)+" a step", "MFU "+percent(best.MFU))
}

func (f *planFigure) legend() []entry {
	var out []entry
	for i := range f.plan.Sizes {
		out = append(out, entry{label: fmt.Sprintf("%d GPUs", f.plan.Sizes[i].GPUs), color: series[i%len(series)], mark: markDot})
	}
	ring := "the fastest"
	if len(f.plan.Sizes) == 1 {
		out[0].label = "front: nothing is faster and smaller"
		ring = "among the fastest, with its rank"
	} else {
		out = append(out, entry{label: "ideal scaling", color: softInk, mark: markDashes})
	}
	return append(out, entry{label: ring, color: ink, mark: markKnee}, entry{label: "capacity of the GPU", color: capacityColor, mark: markLine})
}

func (f *planFigure) body(c draw.Canvas, t theme) {
	cut := c.Size().X * 0.42
	left, right := draw.Crop(c, 0, cut-c.Size().X, 0, 0), draw.Crop(c, cut+t.pt(24), -t.pt(14), 0, 0)
	f.drawFront(left, t)
	if len(f.plan.Sizes) > 1 {
		f.drawScaling(right, t)
		return
	}
	f.drawSteps(right, t)
}

// drawFront draws step time against peak memory.
func (f *planFigure) drawFront(c draw.Canvas, t theme) {
	u, b := timeUnit(f.slowest), pick(byteUnits, max(f.memory, f.capacity))
	p := t.axes("step time ("+u.name+")", "peak memory of the fullest GPU ("+b.name+")")
	margin := max(f.slowest-f.fastest, 0.02*f.slowest) * 0.06
	p.X.Min, p.X.Max = max(0, f.fastest-margin), f.slowest+margin
	p.Y.Min, p.Y.Max = 0, max(f.memory, f.capacity)*1.08
	p.X.Tick.Marker = ticksBetween(p.X.Min, p.X.Max, u, 7)
	p.Y.Tick.Marker = linearTicks(p.Y.Max, b, 8)
	p.Add(t.grid(true, true), plotFunc(func(c draw.Canvas, p *plot.Plot) {
		y := c.Y(p.Y.Norm(f.capacity))
		c.StrokeLine2(draw.LineStyle{Color: capacityColor, Width: t.pt(2.5)}, c.Min.X, y, c.Max.X, y)
		for i := range f.plan.Sizes {
			f.drawSize(c, p, t, i)
		}
	}))
	p.Draw(c)
}

// drawSize draws the front of one number of GPUs as the staircase that it is,
// and rings the fastest layouts.
func (f *planFigure) drawSize(c draw.Canvas, p *plot.Plot, t theme, i int) {
	s, col := &f.plan.Sizes[i], series[i%len(series)]
	at := func(e *report.PlanEntry) vg.Point {
		return vg.Point{X: c.X(p.X.Norm(e.StepTime)), Y: c.Y(p.Y.Norm(float64(e.PeakMemory)))}
	}
	var stairs []vg.Point
	for k := range s.Front {
		pt := at(&s.Front[k])
		if k > 0 {
			stairs = append(stairs, vg.Point{X: pt.X, Y: stairs[len(stairs)-1].Y})
		}
		stairs = append(stairs, pt)
	}
	if len(stairs) > 1 {
		c.StrokeLines(draw.LineStyle{Color: col, Width: t.pt(2)}, stairs)
	}
	for k := range s.Front {
		t.spot(c, at(&s.Front[k]), col, false)
	}
	for k := range s.Best {
		t.ring(c, at(&s.Best[k]))
		if len(f.plan.Sizes) > 1 {
			return
		}
	}
	f.drawRanks(c, t, s.Best, at, c.Y(p.Y.Norm(f.capacity)))
}

// drawRanks writes the ranks beside their rings. One in a crowd without a free
// side goes unwritten: its ring stands, and the bars tell its layout.
func (f *planFigure) drawRanks(c draw.Canvas, t theme, best []report.PlanEntry, at func(*report.PlanEntry) vg.Point, capacity vg.Length) {
	sty := t.text(13)
	sty.XAlign, sty.YAlign = draw.XCenter, yMiddle
	var rings []vg.Point
	for k := range best {
		rings = append(rings, at(&best[k]))
	}
	labels := placeRanks(rings, capacity, t.pt(14))
	for k := range best { // in order, for the same bytes each time
		if label, ok := labels[k]; ok {
			c.FillText(sty, label, strconv.Itoa(best[k].Rank))
		}
	}
}

// placeRanks gives each ring, the first before the others, the first side that
// is free of rings, of the ranks placed before and of the line of the capacity.
// A ring without a free side is left out. Size is what a rank takes.
func placeRanks(rings []vg.Point, capacity, size vg.Length) map[int]vg.Point {
	d := size * 1.07
	taken := slices.Clone(rings)
	labels := map[int]vg.Point{}
	for k, ring := range rings {
		for _, side := range []vg.Point{{X: d, Y: d}, {X: d, Y: -d}, {X: -d, Y: -d}, {X: -d, Y: d}, {X: d}, {X: -d}, {Y: -d}, {Y: d}} {
			label := ring.Add(side)
			onLine := max(label.Y-capacity, capacity-label.Y) < size*0.65
			if onLine || slices.ContainsFunc(taken, func(o vg.Point) bool { return near(label, o, size) }) {
				continue
			}
			taken, labels[k] = append(taken, label), label
			break
		}
	}
	return labels
}

// near reports whether two labels would lie on each other.
func near(a, b vg.Point, distance vg.Length) bool {
	return max(a.X-b.X, b.X-a.X) < distance && max(a.Y-b.Y, b.Y-a.Y) < distance
}

// drawSteps draws where the step of each of the fastest layouts goes.
func (f *planFigure) drawSteps(c draw.Canvas, t theme) {
	best := f.plan.Sizes[0].Best
	b := breakdown{}
	for i := range best {
		if best[i].Mean != nil {
			b.stages = append(b.stages, *best[i].Mean)
			b.end = max(b.end, sumOf(*best[i].Mean), best[i].StepTime)
		}
	}
	c.Max.Y -= drawLegend(c, t, b.legend())
	u := timeUnit(b.end)
	p := t.axes("where the step goes, mean over the stages ("+u.name+")", "")
	n := len(b.stages)
	p.X.Min, p.X.Max = 0, b.end*1.12
	p.Y.Min, p.Y.Max = -float64(n)+0.5, 0.5
	p.X.Tick.Marker = linearTicks(b.end, u, 7)
	var ticks plot.ConstantTicks
	for i := range b.stages {
		ticks = append(ticks, plot.Tick{Value: -float64(i), Label: strconv.Itoa(best[i].Rank)})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.Width = ticks, 0, 0
	p.Add(t.grid(true, false), plotFunc(func(c draw.Canvas, p *plot.Plot) {
		half := barHalf(c, t, n) * 0.55
		for i := range b.stages {
			mid := c.Y(p.Y.Norm(-float64(i)))
			f.drawStep(c, p, t, &best[i], &b.stages[i], mid-half*0.55, half)
		}
	}))
	p.Draw(c)
}

// drawStep draws one bar with its layout written over it.
func (f *planFigure) drawStep(c draw.Canvas, p *plot.Plot, t theme, e *report.PlanEntry, mean *report.StageTime, mid, half vg.Length) {
	sum := 0.0
	for _, part := range report.StageParts {
		if v := *part.Of(mean); v > 0 {
			color := KindColor(part.Kind)
			x0, x1 := snap(c.X(p.X.Norm(sum))), snap(c.X(p.X.Norm(sum+v)))
			fillRect(c, color, x0, snap(mid-half), x1, snap(mid+half))
			t.inside(c, percent(v/e.StepTime), color, x0, x1, mid, half)
			sum += v
		}
	}
	sty := t.style(13, true)
	sty.YAlign = yMiddle
	c.FillText(sty, vg.Point{X: c.X(p.X.Norm(sum)) + t.pt(5), Y: mid}, seconds(e.StepTime))
	sty = t.text(12)
	sty.YAlign = draw.YBottom
	c.FillText(sty, vg.Point{X: c.Min.X + t.pt(2), Y: mid + half + t.pt(1)}, clip(sty, report.LayoutLabel(e.Settings), c.Size().X))
}

// drawScaling draws the fastest step over the number of GPUs.
func (f *planFigure) drawScaling(c draw.Canvas, t theme) {
	sizes := f.plan.Sizes
	u := timeUnit(f.slowest)
	p := t.axes("GPUs", "fastest step ("+u.name+")")
	low, high := float64(sizes[0].GPUs), float64(sizes[len(sizes)-1].GPUs)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Min, p.X.Max = low/1.15, high*1.15
	first := sizes[0].Best[0].StepTime
	p.Y.Min, p.Y.Max = first*low/high/1.3, first*1.3
	var ticks plot.ConstantTicks
	for i := range sizes {
		ticks = append(ticks, plot.Tick{Value: float64(sizes[i].GPUs), Label: strconv.Itoa(sizes[i].GPUs)})
	}
	p.X.Tick.Marker = ticks
	p.Y.Tick.Marker = scaled(logTicks(p.Y.Min/u.scale, p.Y.Max/u.scale), u)
	p.Add(t.grid(true, true), plotFunc(func(c draw.Canvas, p *plot.Plot) {
		at := func(gpus, step float64) vg.Point { return vg.Point{X: c.X(p.X.Norm(gpus)), Y: c.Y(p.Y.Norm(step))} }
		c.StrokeLines(t.dashes(softInk), []vg.Point{at(low, first), at(high, first*low/high)})
		var line []vg.Point
		for i := range sizes {
			line = append(line, at(float64(sizes[i].GPUs), sizes[i].Best[0].StepTime))
		}
		c.StrokeLines(draw.LineStyle{Color: blue, Width: t.pt(2)}, line)
		sty := t.text(13)
		for i, pt := range line {
			t.spot(c, pt, series[i%len(series)], false)
			ideal := first * low / float64(sizes[i].GPUs)
			label := seconds(sizes[i].Best[0].StepTime) + ", " + percent(ideal/sizes[i].Best[0].StepTime) + " of ideal scaling"
			sty.XAlign = draw.XLeft
			at := vg.Point{X: pt.X + t.pt(9), Y: pt.Y + t.pt(5)}
			if at.X+sty.Width(label) > c.Max.X {
				sty.XAlign, at.X, at.Y = draw.XRight, pt.X-t.pt(9), pt.Y-t.pt(20)
			}
			c.FillText(sty, at, label)
		}
	}))
	p.Draw(c)
}

// ticksBetween is linearTicks from a minimum on.
func ticksBetween(low, high float64, u unit, n int) plot.ConstantTicks {
	step := niceStep((high-low)/u.scale/float64(n)) * u.scale
	decimals := max(0, int(math.Ceil(-math.Log10(step/u.scale)-1e-9)))
	var out plot.ConstantTicks
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-9); i++ {
		out = append(out, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step/u.scale, 'f', min(decimals, 12), 64)})
	}
	return out
}

// scaled turns ticks in a unit into ticks in the data's own.
func scaled(ticks plot.ConstantTicks, u unit) plot.ConstantTicks {
	for i := range ticks {
		ticks[i].Value *= u.scale
	}
	return ticks
}
