package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

const errNoPlan = chart.Empty("plots: the plan has no layout that fits")

// plan draws what a planner found: on the left the front of step time against
// peak memory, a line a number of GPUs, with the ranks of the fastest layouts;
// on the right where the step of each of the fastest goes or, for several
// numbers of GPUs, the fastest step over the GPUs beside ideal scaling. A plan
// without a layout is an error.
func plan(p *report.Plan, o chart.Options) (*chart.Figure, error) {
	if len(p.Sizes) == 0 {
		return nil, errNoPlan
	}
	f := newPlanFigure(p)
	title := o.Title
	if title == "" {
		title = fmt.Sprintf("%s: layouts for a global batch of %d", p.Scenario, p.Batch)
	}
	return chart.New(o, chart.Page{Title: title, Subtitle: f.facts(), Legend: f.legend(), Body: f.body})
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
		return chart.Facts(fmt.Sprintf("shortest step: %s on %d GPUs", chart.Seconds(last.StepTime), last.GPUs))
	}
	best := &f.plan.Sizes[0].Best[0]
	return chart.Facts(fmt.Sprintf("%d GPUs", f.plan.Sizes[0].GPUs), "fastest: "+report.LayoutLabel(best.Settings),
		chart.Seconds(best.StepTime)+" a step", "MFU "+chart.Percent(best.MFU))
}

func (f *planFigure) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	for i := range f.plan.Sizes {
		out = append(out, chart.LegendEntry{Label: fmt.Sprintf("%d GPUs", f.plan.Sizes[i].GPUs),
			Color: chart.SeriesColor(i), Mark: chart.MarkDot})
	}
	ring := "the fastest"
	if len(f.plan.Sizes) == 1 {
		out[0].Label = "front: nothing is faster and smaller"
		ring = "among the fastest, with its rank"
	} else {
		out = append(out, chart.LegendEntry{Label: "ideal scaling", Color: chart.SoftInk, Mark: chart.MarkDashes})
	}
	return append(out, chart.LegendEntry{Label: ring, Color: chart.Ink, Mark: chart.MarkKnee},
		chart.LegendEntry{Label: "capacity of the GPU", Color: chart.CapacityColor, Mark: chart.MarkLine})
}

func (f *planFigure) body(c draw.Canvas, t chart.Theme) {
	cut := c.Size().X * 0.42
	left, right := draw.Crop(c, 0, cut-c.Size().X, 0, 0), draw.Crop(c, cut+t.Pt(24), -t.Pt(14), 0, 0)
	f.drawFront(left, t)
	if len(f.plan.Sizes) > 1 {
		f.drawScaling(right, t)
		return
	}
	f.drawSteps(right, t)
}
