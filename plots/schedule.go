package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg/draw"

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
func Schedule(s ScheduleChart, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
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
	return newFigure(o, page{
		title:    name,
		subtitle: s.Subtitle,
		legend:   g.legend(),
		body: func(c draw.Canvas, t theme) {
			g.theme = t
			g.drawOn(c, "time"+unit, linearTicks(g.end, timeUnits[len(timeUnits)-1], 12))
		},
	}), nil
}

var errNoTasks = errors.New("plots: the schedule has no actions to draw")

func (s *ScheduleChart) gantt() (*gantt, error) {
	ranks := 0
	for _, t := range s.Tasks {
		if t.Rank < 0 || t.Rank >= maxRows {
			return nil, fmt.Errorf("plots: an action of rank %d; a figure holds ranks 0 to %d", t.Rank, maxRows-1)
		}
		if !(t.Start >= 0 && t.End >= t.Start) || math.IsInf(t.End, 0) {
			return nil, fmt.Errorf("plots: an action from %g to %g on rank %d", t.Start, t.End, t.Rank)
		}
		ranks = max(ranks, t.Rank+1)
	}
	g := &gantt{rows: make([]row, ranks), chunks: 1}
	for _, t := range s.Tasks {
		r := &g.rows[t.Rank]
		r.boxes = append(r.boxes, box{t.Start, t.End, t.Kind, t.Microbatch, max(t.Chunk, 0)})
		g.end = max(g.end, t.End)
		g.chunks = max(g.chunks, t.Chunk+1)
	}
	if g.end == 0 {
		return nil, errNoTasks
	}
	for i := range g.rows {
		if every := (ranks + 23) / 24; i%every == 0 {
			g.rows[i].label = fmt.Sprintf("rank %d", i)
		}
		slices.SortStableFunc(g.rows[i].boxes, func(a, b box) int { return cmp.Compare(a.start, b.start) })
	}
	return g, nil
}
