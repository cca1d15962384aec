package plots

import (
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

// drawSteps draws where the step of each of the fastest layouts goes.
func (f *planFigure) drawSteps(c draw.Canvas, t chart.Theme) {
	best := f.plan.Sizes[0].Best
	b := stepBars{}
	for i := range best {
		if best[i].Mean != nil {
			b.stages = append(b.stages, *best[i].Mean)
			b.end = max(b.end, sumOf(*best[i].Mean), best[i].StepTime)
		}
	}
	c.Max.Y -= chart.DrawLegend(c, t, b.legend())
	u := chart.TimeUnit(b.end)
	var ranks []string
	for i := range b.stages {
		ranks = append(ranks, strconv.Itoa(best[i].Rank))
	}
	p := t.RowAxes("where the step goes, mean over the stages ("+u.Name+")", ranks)
	p.X.Min, p.X.Max = 0, b.end*1.12
	p.X.Tick.Marker = chart.LinearTicks(b.end, u, 7)
	p.Add(t.Grid(true, false), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) {
		half := chart.BarHalf(c, t, len(b.stages)) * 0.55
		for i := range b.stages {
			mid := c.Y(p.Y.Norm(-float64(i)))
			f.drawStep(c, p, t, &best[i], &b.stages[i], mid-half*0.55, half)
		}
	}))
	p.Draw(c)
}

// drawStep draws one bar with its layout written over it.
func (f *planFigure) drawStep(c draw.Canvas, p *plot.Plot, t chart.Theme, e *report.PlanEntry, mean *report.StageTime,
	mid, half vg.Length) {
	sum := drawParts(c, p, t, mean, e.StepTime, mid, half)
	sty := t.Style(13, true)
	sty.YAlign = chart.YMiddle
	c.FillText(sty, vg.Point{X: c.X(p.X.Norm(sum)) + t.Pt(5), Y: mid}, chart.Seconds(e.StepTime))
	sty = t.Text(12)
	sty.YAlign = draw.YBottom
	c.FillText(sty, vg.Point{X: c.Min.X + t.Pt(2), Y: mid + half + t.Pt(1)},
		chart.Clip(sty, report.LayoutLabel(e.Settings), c.Size().X))
}

// drawScaling draws the fastest step over the number of GPUs.
func (f *planFigure) drawScaling(c draw.Canvas, t chart.Theme) {
	sizes := f.plan.Sizes
	u := chart.TimeUnit(f.slowest)
	p := t.Axes("GPUs", "fastest step ("+u.Name+")")
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
	p.Y.Tick.Marker = chart.Scaled(chart.LogTicks(p.Y.Min/u.Scale, p.Y.Max/u.Scale), u)
	p.Add(t.Grid(true, true), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) {
		at := func(gpus, step float64) vg.Point { return vg.Point{X: c.X(p.X.Norm(gpus)), Y: c.Y(p.Y.Norm(step))} }
		c.StrokeLines(t.Dashes(chart.SoftInk), []vg.Point{at(low, first), at(high, first*low/high)})
		var line []vg.Point
		for i := range sizes {
			line = append(line, at(float64(sizes[i].GPUs), sizes[i].Best[0].StepTime))
		}
		c.StrokeLines(draw.LineStyle{Color: chart.Blue, Width: t.Pt(2)}, line)
		sty := t.Text(13)
		for i, pt := range line {
			t.Spot(c, pt, chart.SeriesColor(i), false)
			ideal := first * low / float64(sizes[i].GPUs)
			step := sizes[i].Best[0].StepTime
			label := chart.Seconds(step) + ", " + chart.Percent(ideal/step) + " of ideal scaling"
			sty.XAlign = draw.XLeft
			at := vg.Point{X: pt.X + t.Pt(9), Y: pt.Y + t.Pt(5)}
			if at.X+sty.Width(label) > c.Max.X {
				sty.XAlign, at.X, at.Y = draw.XRight, pt.X-t.Pt(9), pt.Y-t.Pt(20)
			}
			c.FillText(sty, at, label)
		}
	}))
	p.Draw(c)
}
