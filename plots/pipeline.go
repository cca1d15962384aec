package plots

import (
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/plots/gantt"
	"trainsim/plots/timeline"
	"trainsim/sim/report"
)

// pipeline draws what each pipeline rank does over the step, one rank a stage
// from the top: forward, backward and so on with their micro-batch numbers,
// idle time as background, and under it the rank's data-parallel stream when
// that has work. A recording without actions is an error.
func pipeline(run *report.Run, o chart.Options) (*chart.Figure, error) {
	r, rep := run.Recording, run.Report
	r, which := timeline.OneStep(r, rep)
	g, err := gantt.Pipeline(r)
	if err != nil {
		return nil, err
	}
	title := "pipeline of one training step"
	if g.Step = timeline.EndOfStep(rep); g.Step > 0 {
		title = "pipeline of one training step and its evaluation"
	}
	return chart.New(o, chart.Page{
		Title:    titleOf(o, rep, title),
		Subtitle: chart.Facts(which, stepFacts(rep)),
		Legend:   g.Legend(),
		Body:     func(c draw.Canvas, t chart.Theme) { drawPipeline(c, t, g) },
	})
}

// drawPipeline draws the chart with a time axis in the unit that fits.
func drawPipeline(c draw.Canvas, t chart.Theme, g *gantt.Chart) {
	u := chart.TimeUnit(g.End)
	label := "time in the step (" + u.Name + ")"
	if g.Step > 0 {
		label = "time in the step and its evaluation (" + u.Name + ")"
	}
	if slices.ContainsFunc(g.Rows, func(r gantt.Row) bool { return r.Thin }) {
		label += "; a stream's height is its share of the time"
	}
	g.Draw(c, t, label, chart.LinearTicks(g.End, u, 10))
}
