package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

const errNoStages = chart.Empty("plots: the report has no memory per stage to draw")

// memoryStages draws the peak of each pipeline stage's fullest rank by kind,
// what nvidia-smi would show as an outline, and the capacity. A report without
// memory per stage is an error.
func memoryStages(run *report.Run, o chart.Options) (*chart.Figure, error) {
	rep := run.Report
	if rep == nil || len(rep.MemoryPerStage) == 0 {
		return nil, errNoStages
	}
	if len(rep.MemoryPerStage) > chart.MaxRows {
		return nil, fmt.Errorf("plots: %d stages are more than the %d bars that a figure holds",
			len(rep.MemoryPerStage), chart.MaxRows)
	}
	m := newMemoryBars(rep.MemoryPerStage)
	if !(m.top > 0) {
		return nil, errNoStages
	}
	return chart.New(o, chart.Page{
		Title:    titleOf(o, rep, "peak memory by pipeline stage"),
		Subtitle: m.facts(),
		Legend:   m.legend(),
		Body:     m.body,
	})
}

type memoryBars struct {
	stages   []report.StageMemory
	kinds    [][]float64 // by stage, in the order of memoryStyles
	capacity float64
	top      float64
}

func newMemoryBars(stages []report.StageMemory) *memoryBars {
	m := &memoryBars{stages: stages}
	for _, s := range stages {
		a := s.AtPeak
		kinds := []float64{}
		total := 0.0
		for _, v := range []int64{
			a.Context, a.CommBuffers, a.Weights, a.Gradients, a.Optimizer, a.Activations, a.Temporaries,
		} {
			kinds = append(kinds, max(float64(v), 0))
			total += kinds[len(kinds)-1]
		}
		m.kinds = append(m.kinds, kinds)
		m.top = max(m.top, total, float64(s.NvidiaSMI))
		m.capacity = max(m.capacity, float64(s.Capacity))
	}
	return m
}

// showsCapacity says whether the capacity is near enough to leave the bars
// legible.
func (m *memoryBars) showsCapacity() bool { return m.capacity > 0 && m.capacity <= 5*m.top }

func (m *memoryBars) facts() string {
	full, worst := 0, 0
	for i, s := range m.stages {
		if !s.Fits {
			full++
		}
		if s.NvidiaSMI > m.stages[worst].NvidiaSMI {
			worst = i
		}
	}
	verdict := "every stage fits"
	switch {
	case full == len(m.stages):
		verdict = "DOES NOT FIT"
	case full > 0:
		verdict = fmt.Sprintf("%d of %d stages DO NOT FIT", full, len(m.stages))
	}
	capacity := ""
	if m.capacity > 0 {
		capacity = "capacity " + chart.Gibibytes(m.capacity)
		if !m.showsCapacity() {
			capacity += " (above the axis)"
		}
	}
	return chart.Facts(verdict, fmt.Sprintf("fullest: stage %d with %s", m.stages[worst].Stage,
		chart.Gibibytes(float64(m.stages[worst].NvidiaSMI))), capacity)
}

func (m *memoryBars) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	for k, s := range chart.MemoryStyles {
		for _, kinds := range m.kinds {
			if kinds[k] > m.top/chart.Visible {
				out = append(out, chart.LegendEntry{Label: s.Label, Color: s.Color})
				break
			}
		}
	}
	out = append(out, chart.LegendEntry{Label: "as nvidia-smi shows it", Color: chart.Ink, Mark: chart.MarkDashes})
	if m.showsCapacity() {
		out = append(out, chart.LegendEntry{Label: "capacity of the GPU", Color: chart.CapacityColor,
			Mark: chart.MarkLine})
	}
	return out
}

func (m *memoryBars) body(c draw.Canvas, t chart.Theme) {
	top := m.top
	if m.showsCapacity() {
		top = max(top, m.capacity)
	}
	u := chart.PickUnit(chart.ByteUnits, top)
	p := t.Axes("pipeline stage", "peak memory of its fullest rank ("+u.Name+")")
	n := len(m.stages)
	p.X.Min, p.X.Max = -0.5, float64(n)-0.5
	p.Y.Min, p.Y.Max = 0, top*1.1
	var ticks plot.ConstantTicks
	for i := 0; i < n; i += chart.EveryRow(n) {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: strconv.Itoa(m.stages[i].Stage)})
	}
	p.X.Tick.Marker = ticks
	p.X.Tick.Length = 0
	p.Y.Tick.Marker = chart.LinearTicks(p.Y.Max, u, 8)
	p.Add(t.Grid(false, true), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) { m.draw(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.Pt(14), 0, 0))
}

func (m *memoryBars) draw(c draw.Canvas, p *plot.Plot, t chart.Theme) {
	slot := c.Size().X / vg.Length(len(m.stages))
	b := memoryBar{c: c, t: t, y: func(v float64) vg.Length { return c.Y(p.Y.Norm(v)) },
		half: min(slot*0.36, t.Pt(80)), limit: -1}
	for i := range m.stages {
		b.fill(m.kinds[i], float64(m.stages[i].NvidiaSMI), c.X(p.X.Norm(float64(i))))
	}
	if m.showsCapacity() {
		b.limit = b.y(m.capacity)
		c.StrokeLine2(draw.LineStyle{Color: chart.CapacityColor, Width: t.Pt(2.5)}, c.Min.X, b.limit, c.Max.X, b.limit)
	}
	for i := range m.stages {
		b.label(m.kinds[i], &m.stages[i], c.X(p.X.Norm(float64(i))))
	}
}

// memoryBar draws the bars of one figure; limit is where the capacity line
// lies, or negative.
type memoryBar struct {
	c     draw.Canvas
	t     chart.Theme
	y     func(bytes float64) vg.Length
	half  vg.Length
	limit vg.Length
}

// fill draws one bar and the outline of what nvidia-smi shows.
func (b *memoryBar) fill(kinds []float64, shown float64, mid vg.Length) {
	x0, x1 := chart.Snap(mid-b.half), chart.Snap(mid+b.half)
	sum := 0.0
	for k, v := range kinds {
		if v > 0 {
			chart.FillRect(b.c, chart.MemoryStyles[k].Color, x0, chart.Snap(b.y(sum)), x1, chart.Snap(b.y(sum+v)))
			sum += v
		}
	}
	if shown > 0 {
		base, top := b.y(0), b.y(shown)
		b.c.StrokeLines(b.t.Dashes(chart.Ink),
			[]vg.Point{{X: x0, Y: base}, {X: x0, Y: top}, {X: x1, Y: top}, {X: x1, Y: base}})
	}
}

// label writes the size of each kind inside and of the whole above the bar,
// clear of the capacity line.
func (b *memoryBar) label(kinds []float64, s *report.StageMemory, mid vg.Length) {
	sum := 0.0
	for k, v := range kinds {
		y0, y1 := b.y(sum), b.y(sum+v)
		sum += v
		if y := b.clear((y0 + y1) / 2); y-b.t.Pt(8) >= y0 && y+b.t.Pt(8) <= y1 {
			b.t.Inside(b.c, chart.Gibibytes(v), chart.MemoryStyles[k].Color, mid-b.half, mid+b.half, y, (y1-y0)/2)
		}
	}
	sty := b.t.Style(13, true)
	sty.XAlign, sty.YAlign = draw.XCenter, chart.YMiddle
	text := chart.Gibibytes(float64(s.NvidiaSMI))
	if !s.Fits {
		sty.Color = chart.Vermillion
		if long := text + " does not fit"; sty.Width(long) <= 2.6*b.half {
			text = long
		}
	}
	if sty.Width(text) <= 2.6*b.half {
		y := b.clear(b.y(max(float64(s.NvidiaSMI), sum)) + b.t.Pt(11))
		b.c.FillText(sty, vg.Point{X: mid, Y: y}, text)
	}
}

// clear moves the middle of a line of text off the capacity line: down where
// it stands below it, else up.
func (b *memoryBar) clear(y vg.Length) vg.Length {
	away := b.t.Pt(11)
	switch {
	case b.limit < 0 || y >= b.limit+away || y <= b.limit-away:
		return y
	case y < b.limit-away/2:
		return b.limit - away
	}
	return b.limit + away
}
