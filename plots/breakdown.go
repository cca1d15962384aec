package plots

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

const errNoTimes = chart.Empty("plots: the report has no time per stage to draw")

// partStyle is how a part of a stage's step looks. Computation as a whole has
// the colour of forward.
func partStyle(p report.StagePart) chart.Style {
	s := chart.KindStyles[p.Kind]
	if p.Kind == trace.Forward {
		s.Label = "computation (forward and backward)"
	}
	return s
}

// breakdown draws where each stage's step goes: computation, what it waits for
// and the bubble, stacked to the step time. Communication is what is exposed.
// A report without times per stage is an error.
func breakdown(run *report.Run, o chart.Options) (*chart.Figure, error) {
	rep := run.Report
	if rep == nil || len(rep.TimePerStage) == 0 {
		return nil, errNoTimes
	}
	if len(rep.TimePerStage) > chart.MaxRows {
		return nil, fmt.Errorf("plots: %d stages are more than the %d rows that a figure holds", len(rep.TimePerStage),
			chart.MaxRows)
	}
	b := &stepBars{stages: rep.TimePerStage}
	for _, s := range b.stages {
		b.end = max(b.end, s.Step, sumOf(s))
	}
	if !(b.end > 0) {
		return nil, errNoTimes
	}
	return chart.New(o, chart.Page{
		Title:    titleOf(o, rep, "where each stage's step goes"),
		Subtitle: stepFacts(rep),
		Legend:   b.legend(),
		Body:     b.body,
	})
}

type stepBars struct {
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

func (b *stepBars) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	for _, p := range report.StageParts {
		if slices.ContainsFunc(b.stages, func(s report.StageTime) bool { return *p.Of(&s) > 0 }) {
			style := partStyle(p)
			out = append(out, chart.LegendEntry{Label: style.Label, Color: style.Color})
		}
	}
	return out
}

func (b *stepBars) body(c draw.Canvas, t chart.Theme) {
	u := chart.TimeUnit(b.end)
	labels := make([]string, len(b.stages))
	for i := 0; i < len(labels); i += chart.EveryRow(len(labels)) {
		labels[i] = fmt.Sprintf("stage %d", b.stages[i].Stage)
	}
	p := t.RowAxes("time ("+u.Name+"), communication where it is exposed", labels)
	p.X.Min, p.X.Max = 0, b.end*1.005
	p.X.Tick.Marker = chart.LinearTicks(b.end, u, 10)
	p.Add(t.Grid(true, false), chart.PlotFunc(func(c draw.Canvas, p *plot.Plot) { b.drawBars(c, p, t) }))
	p.Draw(draw.Crop(c, 0, -t.Pt(14), 0, 0))
}

func (b *stepBars) drawBars(c draw.Canvas, p *plot.Plot, t chart.Theme) {
	half := chart.BarHalf(c, t, len(b.stages))
	for i := range b.stages {
		drawParts(c, p, t, &b.stages[i], sumOf(b.stages[i]), c.Y(p.Y.Norm(-float64(i))), half)
	}
}

// drawParts stacks the parts of a step in a bar around mid, each with its share
// of whole, and returns their sum.
func drawParts(c draw.Canvas, p *plot.Plot, t chart.Theme, s *report.StageTime, whole float64,
	mid, half vg.Length) float64 {
	sum := 0.0
	for _, part := range report.StageParts {
		if v := *part.Of(s); v > 0 {
			color := chart.KindColor(part.Kind)
			x0, x1 := chart.Snap(c.X(p.X.Norm(sum))), chart.Snap(c.X(p.X.Norm(sum+v)))
			chart.FillRect(c, color, x0, chart.Snap(mid-half), x1, chart.Snap(mid+half))
			t.Inside(c, chart.Percent(v/whole), color, x0, x1, mid, half)
			sum += v
		}
	}
	return sum
}
