package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg/draw"
)

// pipeRows is about how many rows a comparison of pipelines has room for, all
// cases together.
const pipeRows = 24

// ComparePipelines draws the pipelines of several runs under each other on one
// time axis. Of a long pipeline stages are left out in equal steps; its first
// and its last stage are there. Runs without a recording are left out; with none
// left, or more than 40, it is an error.
func ComparePipelines(cases []Case, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if len(cases) > maxCases {
		return nil, fmt.Errorf("plots: %d scenarios are more than the %d that a figure compares", len(cases), maxCases)
	}
	all := &gantt{chunks: 1}
	for _, c := range cases {
		if c.Recording == nil {
			continue
		}
		g, err := pipelineGantt(withoutEvaluation(c.Recording, c.Report))
		if err != nil {
			continue
		}
		all.join(g, c, max(2, pipeRows/len(cases)))
	}
	if len(all.rows) == 0 {
		return nil, errNoActions
	}
	title := o.Title
	if title == "" {
		title = "pipelines on one time axis"
	}
	return newFigure(o, page{title: title, legend: all.legend(), body: func(c draw.Canvas, t theme) { all.body(c, t) }}), nil
}

// join puts another chart under the rows that are there, in up to so many rows.
func (g *gantt) join(other *gantt, c Case, rows int) {
	g.end, g.chunks = max(g.end, other.end), max(g.chunks, other.chunks)
	heading := c.Name
	if c.Report != nil {
		heading = facts(c.Name, stepFacts(c.Report))
	}
	g.rows = append(g.rows, row{heading: heading})
	var stages []row
	for _, r := range other.rows {
		if !r.thin {
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
		r.label, r.end = fmt.Sprintf("stage %d", i), other.end
		g.rows = append(g.rows, r)
	}
}
