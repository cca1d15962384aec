package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/plots/gantt"
	"trainsim/plots/timeline"
	"trainsim/sim/report"
)

// pipeRows is about how many rows a comparison of pipelines has room for, all
// cases together.
const pipeRows = 24

// comparePipelines draws the pipelines of several runs under each other on one
// time axis. Of a long pipeline stages are left out in equal steps; its first
// and its last stage are there. Runs without a recording are left out; with none
// left, or more than 40, it is an error.
func comparePipelines(cases []report.Case, o chart.Options) (*chart.Figure, error) {
	if len(cases) > maxCases {
		return nil, fmt.Errorf("plots: %d scenarios are more than the %d that a figure compares", len(cases), maxCases)
	}
	all := &gantt.Chart{Chunks: 1}
	for _, c := range cases {
		if c.Recording == nil {
			continue
		}
		g, err := gantt.Pipeline(timeline.WithoutEvaluation(c.Recording, c.Report))
		if err != nil {
			continue
		}
		join(all, g, c, max(2, pipeRows/len(cases)))
	}
	if len(all.Rows) == 0 {
		return nil, gantt.ErrNoActions
	}
	title := o.Title
	if title == "" {
		title = "pipelines on one time axis"
	}
	return chart.New(o, chart.Page{Title: title, Legend: all.Legend(),
		Body: func(c draw.Canvas, t chart.Theme) { drawPipeline(c, t, all) }})
}

// join puts another chart under the rows of g, in up to so many rows.
func join(g, other *gantt.Chart, c report.Case, rows int) {
	g.End, g.Chunks = max(g.End, other.End), max(g.Chunks, other.Chunks)
	heading := c.Name
	if c.Report != nil {
		heading = chart.Facts(c.Name, stepFacts(c.Report))
	}
	g.Rows = append(g.Rows, gantt.Row{Heading: heading})
	var stages []gantt.Row
	for _, r := range other.Rows {
		if !r.Thin {
			stages = append(stages, r)
		}
	}
	n := min(rows, len(stages))
	for k := range n {
		i := k
		if n > 1 {
			i = k * (len(stages) - 1) / (n - 1)
		}
		r := stages[i]
		r.Label, r.End = fmt.Sprintf("stage %d", i), other.End
		g.Rows = append(g.Rows, r)
	}
}
