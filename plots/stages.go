package plots

import (
	"errors"
	"fmt"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim/report"
)

var errNoStages = errors.New("plots: the report has no memory per stage to draw")

// MemoryStages draws the peak of each pipeline stage's fullest rank by kind,
// what nvidia-smi would show as an outline, and the capacity. A report without
// memory per stage is an error.
func MemoryStages(rep *report.Report, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if rep == nil || len(rep.MemoryPerStage) == 0 {
		return nil, errNoStages
	}
	if len(rep.MemoryPerStage) > maxRows {
		return nil, fmt.Errorf("plots: %d stages are more than the %d bars that a figure holds", len(rep.MemoryPerStage), maxRows)
	}
	m := newMemoryBars(rep.MemoryPerStage)
	if !(m.top > 0) {
		return nil, errNoStages
	}
	return newFigure(o, page{
		title:    o.title(rep, "peak memory by pipeline stage"),
		subtitle: m.facts(),
		legend:   m.legend(),
		body:     m.body,
	}), nil
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
		for _, v := range []int64{a.Context, a.CommBuffers, a.Weights, a.Gradients, a.Optimizer, a.Activations, a.Temporaries} {
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
		capacity = "capacity " + gibibytes(m.capacity)
		if !m.showsCapacity() {
			capacity += " (above the axis)"
		}
	}
	return facts(verdict, fmt.Sprintf("fullest: stage %d with %s", m.stages[worst].Stage, gibibytes(float64(m.stages[worst].NvidiaSMI))), capacity)
}

func (m *memoryBars) legend() []entry {
	var out []entry
	for k, s := range memoryStyles {
		for _, kinds := range m.kinds {
			if kinds[k] > m.top/visible {
				out = append(out, entry{label: s.label, color: s.color})
				break
			}
		}
	}
	out = append(out, entry{label: "as nvidia-smi shows it", color: ink, mark: markDashes})
	if m.showsCapacity() {
		out = append(out, entry{label: "capacity of the GPU", color: capacityColor, mark: markLine})
	}
	return out
}

func (m *memoryBars) body(c draw.Canvas, t theme) {
	top := m.top
	if m.showsCapacity() {
		top = max(top, m.capacity)
	}
	u := pick(byteUnits, top)
	p := t.axes("pipeline stage", "peak memory of its fullest rank ("+u.name+")")
	n := len(m.stages)
	p.X.Min, p.X.Max = -0.5, float64(n)-0.5
	p.Y.Min, p.Y.Max = 0, top*1.1
	p.X.Tick.Marker = stageTicks(n, func(i int) string { return strconv.Itoa(m.stages[i].Stage) })
	p.X.Tick.Length = 0
	p.Y.Tick.Marker = linearTicks(p.Y.Max, u, 8)
	p.Add(t.grid(false, true), plotFunc(func(c draw.Canvas, p *plot.Plot) { m.draw(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.pt(14), 0, 0))
}

// stageTicks labels every stage, or every n-th where they stand too close.
func stageTicks(n int, label func(int) string) plot.ConstantTicks {
	every := (n + 31) / 32
	var out plot.ConstantTicks
	for i := 0; i < n; i += every {
		out = append(out, plot.Tick{Value: float64(i), Label: label(i)})
	}
	return out
}

func (m *memoryBars) draw(c draw.Canvas, p *plot.Plot, t theme) {
	slot := c.Size().X / vg.Length(len(m.stages))
	half := min(slot*0.36, t.pt(80))
	for i := range m.stages {
		m.drawBar(c, p, t, i, c.X(p.X.Norm(float64(i))), half)
	}
	if m.showsCapacity() {
		y := c.Y(p.Y.Norm(m.capacity))
		c.StrokeLine2(draw.LineStyle{Color: capacityColor, Width: t.pt(2.5)}, c.Min.X, y, c.Max.X, y)
	}
}

func (m *memoryBars) drawBar(c draw.Canvas, p *plot.Plot, t theme, i int, mid, half vg.Length) {
	y := func(v float64) vg.Length { return c.Y(p.Y.Norm(v)) }
	x0, x1 := snap(mid-half), snap(mid+half)
	sum := 0.0
	for k, v := range m.kinds[i] {
		if v <= 0 {
			continue
		}
		y0, y1 := snap(y(sum)), snap(y(sum+v))
		sum += v
		fillRect(c, memoryStyles[k].color, x0, y0, x1, y1)
		t.inside(c, gibibytes(v), memoryStyles[k].color, x0, x1, (y0+y1)/2, (y1-y0)/2)
	}
	shown := float64(m.stages[i].NvidiaSMI)
	if shown > 0 {
		base, top := y(0), y(shown)
		c.StrokeLines(t.dashes(ink), []vg.Point{{X: x0, Y: base}, {X: x0, Y: top}, {X: x1, Y: top}, {X: x1, Y: base}})
	}
	m.drawTotal(c, t, i, mid, y(max(shown, sum))+t.pt(4), 2*half)
}

// drawTotal writes what nvidia-smi would show over the bar, on white, because
// the capacity line may pass there.
func (m *memoryBars) drawTotal(c draw.Canvas, t theme, i int, x, y, width vg.Length) {
	s := m.stages[i]
	sty := t.style(13, true)
	sty.XAlign = draw.XCenter
	text := gibibytes(float64(s.NvidiaSMI))
	if !s.Fits {
		sty.Color = vermillion
		text += " does not fit"
	}
	if w := sty.Width(text); w <= width*1.3 {
		fillRect(c, white, x-w/2-dot, y, x+w/2+dot, y+t.pt(16))
		c.FillText(sty, vg.Point{X: x, Y: y + t.pt(2)}, text)
	}
}
