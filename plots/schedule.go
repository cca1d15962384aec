package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/plots/gantt"
	"trainsim/sim/trace"
)

// Task is one action of a schedule, on the row of its pipeline rank. Times are
// in the unit that the chart names.
type Task struct {
	Rank       int
	Start, End float64
	Kind       trace.Kind
	Microbatch int // negative for none
	Chunk      int // model chunk of the rank
}

// ScheduleChart is a schedule with the times of its actions.
type ScheduleChart struct {
	Name     string // "1f1b, 4 stages, 8 micro-batches"
	Subtitle string
	Unit     string // of the times: "forwards of one stage" for example
	Tasks    []Task
}

// Schedule draws a schedule as a Gantt chart, a row a pipeline rank, without
// any simulation. A chart without tasks, with a rank outside 0 to 255 or with
// times that are not finite, ordered and positive is an error.
func Schedule(s ScheduleChart, o chart.Options) (*chart.Figure, error) {
	g, err := s.gantt()
	if err != nil {
		return nil, err
	}
	unit := s.Unit
	if unit != "" {
		unit = " (" + unit + ")"
	}
	name := s.Name
	if o.Title != "" {
		name = o.Title
	}
	return chart.New(o, chart.Page{
		Title:    name,
		Subtitle: s.Subtitle,
		Legend:   g.Legend(),
		Body: func(c draw.Canvas, t chart.Theme) {
			g.Draw(c, t, "time"+unit, chart.LinearTicks(g.End, chart.TimeUnits[len(chart.TimeUnits)-1], 12))
		},
	})
}

const errNoTasks = chart.Empty("plots: the schedule has no actions to draw")

func (s *ScheduleChart) gantt() (*gantt.Chart, error) {
	ranks := 0
	for _, t := range s.Tasks {
		if t.Rank < 0 || t.Rank >= chart.MaxRows {
			return nil, fmt.Errorf("plots: an action of rank %d; a figure holds ranks 0 to %d", t.Rank,
				chart.MaxRows-1)
		}
		if !(t.Start >= 0 && t.End >= t.Start) || math.IsInf(t.End, 0) {
			return nil, fmt.Errorf("plots: an action from %g to %g on rank %d", t.Start, t.End, t.Rank)
		}
		ranks = max(ranks, t.Rank+1)
	}
	g := &gantt.Chart{Rows: make([]gantt.Row, ranks), Chunks: 1}
	for _, t := range s.Tasks {
		r := &g.Rows[t.Rank]
		r.Boxes = append(r.Boxes, gantt.Box{Start: t.Start, End: t.End, Kind: t.Kind, Number: t.Microbatch,
			Chunk: max(t.Chunk, 0)})
		g.End = max(g.End, t.End)
		g.Chunks = max(g.Chunks, t.Chunk+1)
	}
	if g.End == 0 {
		return nil, errNoTasks
	}
	for i := range g.Rows {
		if every := (ranks + 23) / 24; i%every == 0 {
			g.Rows[i].Label = fmt.Sprintf("rank %d", i)
		}
		slices.SortStableFunc(g.Rows[i].Boxes, func(a, b gantt.Box) int { return cmp.Compare(a.Start, b.Start) })
	}
	return g, nil
}
