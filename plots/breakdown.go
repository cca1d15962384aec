package plots

import (
	"errors"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim/report"
	"trainsim/sim/trace"
)

var errNoTimes = errors.New("plots: the report has no time per stage to draw")

// partStyle is how a part of a stage's step looks. Computation as a whole has
// the colour of forward.
func partStyle(p report.StagePart) style {
	s := kindStyles[p.Kind]
	if p.Kind == trace.Forward {
		s.label = "computation (forward and backward)"
	}
	return s
}

// Breakdown draws where each stage's step goes: computation, what it waits for
// and the bubble, stacked to the step time. Communication is what is exposed.
// A report without times per stage is an error.
func Breakdown(rep *report.Report, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if rep == nil || len(rep.TimePerStage) == 0 {
		return nil, errNoTimes
	}
	if len(rep.TimePerStage) > maxRows {
		return nil, fmt.Errorf("plots: %d stages are more than the %d rows that a figure holds", len(rep.TimePerStage), maxRows)
	}
	b := &breakdown{stages: rep.TimePerStage}
	for _, s := range b.stages {
		b.end = max(b.end, s.Step, sumOf(s))
	}
	if !(b.end > 0) {
		return nil, errNoTimes
	}
	return newFigure(o, page{
		title:    o.title(rep, "where each stage's step goes"),
		subtitle: stepFacts(rep),
		legend:   b.legend(),
		body:     b.body,
	}), nil
}

type breakdown struct {
	stages []report.StageTime
	end    float64
}

func sumOf(s report.StageTime) float64 {
	sum := 0.0
	for _, p := range report.StageParts {
		sum += max(*p.Of(&s), 0)
	}
	return sum
}

func (b *breakdown) legend() []entry {
	var out []entry
	for _, p := range report.StageParts {
		if slices.ContainsFunc(b.stages, func(s report.StageTime) bool { return *p.Of(&s) > 0 }) {
			style := partStyle(p)
			out = append(out, entry{label: style.label, color: style.color})
		}
	}
	return out
}

func (b *breakdown) body(c draw.Canvas, t theme) {
	u := timeUnit(b.end)
	p := t.axes("time ("+u.name+"), communication where it is exposed", "")
	n := len(b.stages)
	p.X.Min, p.X.Max = 0, b.end*1.005
	p.Y.Min, p.Y.Max = -float64(n)+0.5, 0.5
	p.X.Tick.Marker = linearTicks(b.end, u, 10)
	ticks := stageTicks(n, func(i int) string { return fmt.Sprintf("stage %d", b.stages[i].Stage) })
	for i := range ticks {
		ticks[i].Value = -ticks[i].Value
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length, p.Y.Width = 0, 0
	p.Add(t.grid(true, false), plotFunc(func(c draw.Canvas, p *plot.Plot) { b.drawBars(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.pt(14), 0, 0))
}

// barHalf is half the height of one of n bars.
func barHalf(c draw.Canvas, t theme, n int) vg.Length {
	return min(c.Size().Y/vg.Length(n)*0.38, t.pt(45))
}

func (b *breakdown) drawBars(c draw.Canvas, p *plot.Plot, t theme) {
	half := barHalf(c, t, len(b.stages))
	for i, s := range b.stages {
		mid := c.Y(p.Y.Norm(-float64(i)))
		sum := 0.0
		for _, part := range report.StageParts {
			if v := *part.Of(&s); v > 0 {
				color := KindColor(part.Kind)
				x0, x1 := snap(c.X(p.X.Norm(sum))), snap(c.X(p.X.Norm(sum+v)))
				fillRect(c, color, x0, snap(mid-half), x1, snap(mid+half))
				t.inside(c, percent(v/sumOf(s)), color, x0, x1, mid, half)
				sum += v
			}
		}
	}
}

// inside writes text into a box of that colour where it fits.
func (t theme) inside(c draw.Canvas, text string, fill color.RGBA, x0, x1, mid, half vg.Length) {
	sty := t.text(13)
	if half < t.pt(9) || sty.Width(text) >= x1-x0-4*dot {
		return
	}
	sty.XAlign, sty.YAlign, sty.Color = draw.XCenter, yMiddle, onTop(fill)
	c.FillText(sty, vg.Point{X: (x0 + x1) / 2, Y: mid}, text)
}
