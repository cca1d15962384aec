package plots

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

const errNoCases = chart.Empty("plots: no report to compare")

// maxCases is how many bars a comparison has room for.
const maxCases = 40

// compare draws scenarios side by side: left, where the step of each goes, as a
// mean over its stages; right, the peak memory of its fullest stage by kind
// with the capacity. More than 40 cases, or none with a report, is an error.
func compare(cases []report.Case, o chart.Options) (*chart.Figure, error) {
	if len(cases) > maxCases {
		return nil, fmt.Errorf("plots: %d scenarios are more than the %d that a figure compares", len(cases), maxCases)
	}
	k := newComparison(cases)
	if len(k.names) == 0 || !(k.end > 0) {
		return nil, errNoCases
	}
	title := o.Title
	if title == "" {
		title = "where the step goes, and what memory it needs"
	}
	return chart.New(o, chart.Page{Title: title, Subtitle: k.facts(), Body: k.body})
}

type comparison struct {
	names  []string
	times  []report.StageTime // means over the stages
	memory *memoryBars        // one fullest stage a case; empty where unknown
	step   []float64
	end    float64
}

func newComparison(cases []report.Case) *comparison {
	k := &comparison{}
	var stages []report.StageMemory
	for _, c := range cases {
		if c.Report == nil {
			continue
		}
		mean := report.MeanTime(c.Report.TimePerStage)
		fullest := report.StageMemory{Fits: true}
		for _, s := range c.Report.MemoryPerStage {
			if s.NvidiaSMI > fullest.NvidiaSMI {
				fullest = s
			}
		}
		k.names = append(k.names, c.Name)
		k.times = append(k.times, mean)
		k.step = append(k.step, c.Report.StepTime)
		k.end = max(k.end, sumOf(mean), c.Report.StepTime)
		stages = append(stages, fullest)
	}
	k.memory = newMemoryBars(stages)
	return k
}

func (k *comparison) facts() string {
	best := 0
	for i, s := range k.step {
		if s > 0 && (k.step[best] <= 0 || s < k.step[best]) {
			best = i
		}
	}
	return chart.Facts("shortest step: "+k.names[best]+" with "+chart.Seconds(k.step[best]),
		"time is a mean over the stages, memory of the fullest stage")
}

// body gives each half its own legend, because a colour stands for a kind of
// work in the one and for a kind of memory in the other.
func (k *comparison) body(c draw.Canvas, t chart.Theme) {
	cut := c.Size().X * 0.58
	left, right := draw.Crop(c, 0, cut-c.Size().X, 0, 0), draw.Crop(c, cut+t.Pt(24), -t.Pt(14), 0, 0)
	times := stepBars{stages: k.times}
	legend := chart.DrawLegend(left, t, times.legend())
	if k.memory.top > 0 {
		legend = max(legend, chart.DrawLegend(right, t, k.memory.legend()))
		k.drawMemory(draw.Crop(right, 0, 0, 0, -legend), t)
	}
	k.drawTimes(draw.Crop(left, 0, 0, 0, -legend), t)
}

// rows prepares a panel with a row a case from the top.
func (k *comparison) rows(t chart.Theme, xLabel string, labels bool, width vg.Length) *plot.Plot {
	var names []string
	for _, name := range k.names {
		if !labels {
			name = " "
		}
		names = append(names, chart.Clip(t.Text(13), name, width/3))
	}
	return t.RowAxes(xLabel, names)
}

func (k *comparison) drawTimes(c draw.Canvas, t chart.Theme) {
	u := chart.TimeUnit(k.end)
	p := k.rows(t, "time ("+u.Name+"), communication where it is exposed", true, c.Size().X)
	p.X.Min, p.X.Max = 0, k.end*1.12
	p.X.Tick.Marker = chart.LinearTicks(k.end, u, 7)
	b := stepBars{stages: k.times, end: k.end}
	p.Add(t.Grid(true, false), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) {
		b.drawBars(c, p, t)
		sty := t.Style(13, true)
		sty.YAlign = chart.YMiddle
		for i, s := range k.step {
			at := max(s, sumOf(k.times[i]))
			c.FillText(sty, vg.Point{X: c.X(p.X.Norm(at)) + t.Pt(5), Y: c.Y(p.Y.Norm(-float64(i)))}, chart.Seconds(s))
		}
	}))
	p.Draw(draw.Crop(c, 0, -t.Pt(24), 0, 0))
}

func (k *comparison) drawMemory(c draw.Canvas, t chart.Theme) {
	m := k.memory
	top := m.top
	if m.showsCapacity() {
		top = max(top, m.capacity)
	}
	u := chart.PickUnit(chart.ByteUnits, top)
	p := k.rows(t, "peak memory ("+u.Name+")", false, c.Size().X)
	p.X.Min, p.X.Max = 0, top*1.05
	p.X.Tick.Marker = chart.LinearTicks(p.X.Max, u, 6)
	p.Add(t.Grid(true, false), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) {
		half := chart.BarHalf(c, t, len(k.names))
		for i := range m.stages {
			m.drawRow(c, p, t, i, half)
		}
	}))
	p.Draw(c)
}

// drawRow is one case's memory as a horizontal bar, with its own capacity.
func (m *memoryBars) drawRow(c draw.Canvas, p *plot.Plot, t chart.Theme, i int, half vg.Length) {
	x := func(v float64) vg.Length { return c.X(p.X.Norm(v)) }
	mid := c.Y(p.Y.Norm(-float64(i)))
	y0, y1 := chart.Snap(mid-half), chart.Snap(mid+half)
	sum := 0.0
	for kind, v := range m.kinds[i] {
		if v > 0 {
			chart.FillRect(c, chart.MemoryStyles[kind].Color, chart.Snap(x(sum)), y0, chart.Snap(x(sum+v)), y1)
			sum += v
		}
	}
	if shown := float64(m.stages[i].NvidiaSMI); shown > 0 {
		c.StrokeLines(t.Dashes(chart.Ink), []vg.Point{{X: x(0), Y: y0}, {X: x(shown), Y: y0}, {X: x(shown), Y: y1},
			{X: x(0), Y: y1}})
	}
	if capacity := float64(m.stages[i].Capacity); capacity > 0 && m.showsCapacity() {
		c.StrokeLine2(draw.LineStyle{Color: chart.CapacityColor, Width: t.Pt(2.5)}, x(capacity), y0-t.Pt(5),
			x(capacity), y1+t.Pt(5))
	}
}
