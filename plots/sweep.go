package plots

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/report"
)

const errNoSweep = chart.Empty("plots: the sweep has no point to draw")

// maxSweep bounds the points of a figure, maxCurves the lines that can be told
// apart.
const (
	maxSweep  = 10000
	maxCurves = 10
)

// drawSweep draws time, bubble and peak memory over what was varied, one panel
// each, with a line a series. Numbers on the axis keep their distances, on a
// logarithmic scale where they span a factor of 8; other values stand in the
// order of appearance. The knee of each line, from which on less than 5 % is to
// be gained, is ringed. Of many series the fastest are drawn.
func drawSweep(c SweepChart, o chart.Options) (*chart.Figure, error) {
	points := c.Points
	if len(points) > maxSweep {
		points = points[:maxSweep]
	}
	s := newSweep(c.Axis, points, c.Capacity)
	if !(s.steps > 0) && !(s.memory > 0) {
		return nil, errNoSweep
	}
	title := o.Title
	if title == "" {
		title = "sweep of " + c.Axis
		if c.Scenario != "" {
			title = c.Scenario + ": " + title
		}
	}
	return chart.New(o, chart.Page{Title: title, Subtitle: s.facts(), Legend: s.legend(), Body: s.body})
}

type sweep struct {
	axis     sweepAxis
	curves   []sweepCurve
	dropped  int // curves that are not drawn
	capacity float64
	aSample  bool

	steps, memory, bubble float64 // largest of what is drawn
	hollow                bool
}

// sweepCurve is the points of one series, ordered along the axis.
type sweepCurve struct {
	name   string
	points []SweepPoint
	knee   int // index into points; -1 for none
}

func newSweep(axis string, points []SweepPoint, capacity float64) *sweep {
	s := &sweep{axis: newSweepAxis(axis, points), capacity: capacity, aSample: len(points) > 0}
	for i := range points {
		s.aSample = s.aSample && chart.Drawable(points[i].Samples)
	}
	index := map[string]int{}
	for _, p := range points {
		i, ok := index[p.Series]
		if !ok {
			i = len(s.curves)
			index[p.Series] = i
			s.curves = append(s.curves, sweepCurve{name: p.Series})
		}
		s.curves[i].points = append(s.curves[i].points, p)
	}
	s.choose()
	for i := range s.curves {
		s.prepare(&s.curves[i])
	}
	return s
}

// choose keeps the fastest curves where there are too many, in their order.
func (s *sweep) choose() {
	if len(s.curves) <= maxCurves {
		return
	}
	fastest := func(c *sweepCurve) float64 {
		best := 0.0
		for i := range c.points {
			if t := c.points[i].time(s.aSample); c.points[i].Fits && chart.Drawable(t) && (best == 0 || t < best) {
				best = t
			}
		}
		return best
	}
	order := make([]int, len(s.curves))
	times := make([]float64, len(s.curves))
	for i := range order {
		order[i], times[i] = i, fastest(&s.curves[i])
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if none := times[a] == 0; none != (times[b] == 0) {
			return cmp.Compare(times[b], times[a])
		}
		return cmp.Compare(times[a], times[b])
	})
	kept := slices.Sorted(slices.Values(order[:maxCurves]))
	var curves []sweepCurve
	for _, i := range kept {
		curves = append(curves, s.curves[i])
	}
	s.dropped = len(s.curves) - len(curves)
	s.curves = curves
}

// prepare orders a curve, finds its knee and stretches the panels to it.
func (s *sweep) prepare(c *sweepCurve) {
	slices.SortStableFunc(c.points, func(a, b SweepPoint) int { return cmp.Compare(s.axis.at[a.X], s.axis.at[b.X]) })
	var at []int
	var times []float64
	for i := range c.points {
		p := &c.points[i]
		t := p.time(s.aSample)
		s.steps = max(s.steps, orZero(t))
		s.memory = max(s.memory, orZero(p.PeakMemory))
		s.bubble = max(s.bubble, orZero(p.Bubble))
		s.hollow = s.hollow || !p.Fits && (chart.Drawable(t) || chart.Drawable(p.PeakMemory))
		if p.Fits && chart.Drawable(t) {
			at, times = append(at, i), append(times, t)
		}
	}
	c.knee = -1
	if k, ok := report.Knee(times); ok && s.axis.numbers {
		c.knee = at[k]
	}
}

// orZero returns what is not drawn as 0.
func orZero(x float64) float64 {
	if chart.Drawable(x) {
		return x
	}
	return 0
}

func (s *sweep) facts() string {
	var best *SweepPoint
	for i := range s.curves {
		for k := range s.curves[i].points {
			p := &s.curves[i].points[k]
			if t := p.time(s.aSample); p.Fits && chart.Drawable(t) && (best == nil || t < best.time(s.aSample)) {
				best = p
			}
		}
	}
	dropped := ""
	if s.dropped > 0 {
		dropped = fmt.Sprintf("the %d fastest of %d lines", len(s.curves), len(s.curves)+s.dropped)
	}
	if best == nil {
		return chart.Facts("no run fits in memory", dropped)
	}
	what := "shortest step that fits: "
	if s.aSample {
		what = "least time a sample that fits: "
	}
	return chart.Facts(what+chart.Seconds(best.time(s.aSample))+" at "+best.X, best.Series, s.kneeFact(), dropped)
}

// kneeFact names the knee of a single line.
func (s *sweep) kneeFact() string {
	if len(s.curves) != 1 || s.curves[0].knee < 0 {
		return ""
	}
	return "knee at " + s.curves[0].points[s.curves[0].knee].X
}

func (s *sweep) legend() []chart.LegendEntry {
	var out []chart.LegendEntry
	knees := false
	for i, c := range s.curves {
		if c.name != "" {
			out = append(out, chart.LegendEntry{Label: c.name, Color: chart.SeriesColor(i), Mark: chart.MarkDot})
		}
		knees = knees || c.knee >= 0
	}
	if knees {
		out = append(out, chart.LegendEntry{Label: "knee: more gains less than 5 %", Color: chart.Ink,
			Mark: chart.MarkKnee})
	}
	if s.hollow {
		out = append(out, chart.LegendEntry{Label: "does not fit in memory", Color: chart.Ink, Mark: chart.MarkRing})
	}
	if s.showsCapacity() {
		out = append(out, chart.LegendEntry{Label: "capacity of the GPU", Color: chart.CapacityColor,
			Mark: chart.MarkLine})
	}
	return out
}

func (s *sweep) showsCapacity() bool {
	return chart.Drawable(s.capacity) && s.memory > 0 && s.capacity <= 5*s.memory
}

func (s *sweep) body(c draw.Canvas, t chart.Theme) {
	u := chart.TimeUnit(s.steps)
	b := chart.PickUnit(chart.ByteUnits, s.memory)
	memoryTop := s.memory
	if s.showsCapacity() {
		memoryTop = max(memoryTop, s.capacity)
	}
	what := "step time ("
	if s.aSample {
		what = "time a sample ("
	}
	s.drawPanels(c, t, []panel{
		{what + u.Name + ")", u, s.steps, func(p *SweepPoint) float64 { return p.time(s.aSample) }},
		{"bubble (% of the step)", chart.Percents, max(s.bubble, 0.01),
			func(p *SweepPoint) float64 { return p.Bubble }},
		{"peak memory (" + b.Name + ")", b, memoryTop, func(p *SweepPoint) float64 { return p.PeakMemory }},
	})
}
