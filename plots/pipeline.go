package plots

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

var errNoActions = errors.New("plots: the recording has no actions of the schedule to draw")

// Pipeline draws what each pipeline rank does over the step, one rank a stage
// from the top: forward, backward and so on with their micro-batch numbers,
// idle time as background, and under it the rank's data-parallel stream when
// that has work. A recording without actions is an error.
func Pipeline(r *trace.Recording, rep *report.Report, o Options) (*Figure, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	r, which := oneStep(r, rep)
	g, err := pipelineGantt(r)
	if err != nil {
		return nil, err
	}
	title := "pipeline of one training step"
	if g.step = endOfStep(rep); g.step > 0 {
		title = "pipeline of one training step and its evaluation"
	}
	return newFigure(o, page{
		title:    o.title(rep, title),
		subtitle: facts(which, stepFacts(rep)),
		legend:   g.legend(),
		body:     g.body,
	}), nil
}

// body draws the chart with a time axis in the unit that fits.
func (g *gantt) body(c draw.Canvas, t theme) {
	g.theme = t
	u := timeUnit(g.end)
	label := "time in the step (" + u.name + ")"
	if g.step > 0 {
		label = "time in the step and its evaluation (" + u.name + ")"
	}
	if slices.ContainsFunc(g.rows, func(r row) bool { return r.thin }) {
		label += "; a stream's height is its share of the time"
	}
	g.drawOn(c, label, linearTicks(g.end, u, 10))
}

// stepFacts says the step time, the bubble and the MFU where they are known.
func stepFacts(rep *report.Report) string {
	if rep == nil {
		return ""
	}
	var step, bubble, mfu, oom string
	if rep.StepTime > 0 {
		step = "step time " + seconds(rep.StepTime)
		if rep.Steps != nil {
			step = fmt.Sprintf("mean step time %s (%s to %s)", seconds(rep.StepTime), seconds(rep.Steps.Min), seconds(rep.Steps.Max))
		}
		if rep.Evaluation != nil {
			step += ", evaluation " + seconds(rep.Evaluation.Seconds)
		}
		bubble = "pipeline bubble " + percent(rep.Bubble.OverTotal) + " of the step"
	}
	if rep.MFU > 0 {
		mfu = "MFU " + percent(rep.MFU)
	}
	if rep.OOM != nil {
		oom = "OUT OF MEMORY on rank " + fmt.Sprint(rep.OOM.Rank)
	}
	return facts(oom, step, bubble, mfu)
}

// stageLanes are the lanes of one stage's representative rank; -1 for none.
type stageLanes struct {
	stage, rank int
	lanes       [trace.NumStreams]int32
}

// representatives picks the lowest rank with an actions lane in each stage.
func representatives(r *trace.Recording) []stageLanes {
	byStage := map[int]int{} // stage -> index into out
	var out []stageLanes
	for _, l := range r.Lanes {
		if l.Stream != trace.Actions {
			continue
		}
		at, ok := byStage[l.Stage]
		if !ok {
			at = len(out)
			byStage[l.Stage] = at
			out = append(out, stageLanes{stage: l.Stage, rank: l.Rank})
		}
		out[at].rank = min(out[at].rank, l.Rank)
	}
	for i := range out {
		for s := range out[i].lanes {
			out[i].lanes[s] = -1
		}
	}
	for i, l := range r.Lanes {
		if at, ok := byStage[l.Stage]; ok && l.Rank == out[at].rank && l.Stream < trace.NumStreams {
			out[at].lanes[l.Stream] = int32(i)
		}
	}
	slices.SortFunc(out, func(a, b stageLanes) int { return cmp.Compare(a.stage, b.stage) })
	return out
}

// maxRows is how many stages a figure can show with a row of some dots each.
const maxRows = 256

func pipelineGantt(r *trace.Recording) (*gantt, error) {
	stages := representatives(r)
	if len(stages) == 0 {
		return nil, errNoActions
	}
	if len(stages) > maxRows {
		return nil, fmt.Errorf("plots: %d stages are more than the %d rows that a figure holds", len(stages), maxRows)
	}
	g := &gantt{end: makespan(r).Seconds(), chunks: 1}
	if g.end <= 0 {
		return nil, errNoActions
	}
	boxes := boxesOf(r, lanesOf(stages))
	inside := optimizerDetail(r, stages, boxes)
	for i, s := range stages {
		streams := boxes[i*rowStreams : (i+1)*rowStreams]
		actions := detailed(streams[0], inside[i], streams[trace.DP.Stream()])
		g.rows = append(g.rows, row{label: stageLabel(s, i, len(stages)), boxes: actions})
		for k, boxes := range streams[1:] {
			if total(boxes) > g.end/200 {
				g.rows = append(g.rows, row{label: streamLabel(k+1, len(stages)), thin: true, boxes: boxes})
			}
		}
		for _, b := range actions {
			g.chunks = max(g.chunks, b.chunk+1)
		}
	}
	return g, nil
}

// fewStages have room for every stream; where more share the page, only the
// data-parallel stream joins the actions.
const fewStages = 2

// rowStreams is how many streams of a stage may have a row, actions first.
const rowStreams = int(trace.NumStreams)

var streamLabels = [rowStreams]string{"", "kernels", "tp stream", "pp stream", "dp stream", "cp stream"}

// lanesOf lists the lanes to draw, rowStreams of them a stage, -1 for none.
func lanesOf(stages []stageLanes) []int32 {
	var out []int32
	for _, s := range stages {
		if len(stages) > fewStages {
			for stream := range s.lanes {
				if kept := trace.Stream(stream); kept != trace.Actions && kept != trace.DP.Stream() {
					s.lanes[stream] = -1
				}
			}
		}
		out = append(out, s.lanes[:]...)
	}
	return out
}

// streamLabel names a row under a rank where there is room.
func streamLabel(stream, stages int) string {
	if stages > 8 {
		return ""
	}
	return streamLabels[stream]
}

// stageLabel names every row, or every n-th where rows are too low for text.
func stageLabel(s stageLanes, i, stages int) string {
	if every := (stages + 23) / 24; i%every != 0 {
		return ""
	}
	return fmt.Sprintf("stage %d (rank %d)", s.stage, s.rank)
}

// makespan is the end of the last span.
func makespan(r *trace.Recording) sim.Time {
	var end sim.Time
	for s := range r.Spans {
		end = max(end, s.End)
	}
	return end
}

// boxesOf collects the boxes of some lanes, each in the order of its start. A
// lane of -1 has none. Idle spans are left to the background.
func boxesOf(r *trace.Recording, lanes []int32) [][]box {
	return boxesWhere(r, lanes, func(int, *trace.Span) bool { return true })
}

// boxesWhere is boxesOf for the spans of lanes[i] that keep(i, span) takes.
func boxesWhere(r *trace.Recording, lanes []int32, keep func(int, *trace.Span) bool) [][]box {
	at := make([]int32, len(r.Lanes))
	for i := range at {
		at[i] = -1
	}
	for i, l := range lanes {
		if l >= 0 {
			at[l] = int32(i)
		}
	}
	out := make([][]box, len(lanes))
	for s := range r.Spans {
		if int(s.Lane) >= len(at) || s.Lane < 0 || at[s.Lane] < 0 || s.Kind == trace.Bubble || s.End <= s.Start {
			continue
		}
		i := at[s.Lane]
		if !keep(int(i), s) {
			continue
		}
		out[i] = append(out[i], box{s.Start.Seconds(), s.End.Seconds(), s.Kind, numberOf(s), int(s.Chunk)})
	}
	for _, boxes := range out {
		slices.SortStableFunc(boxes, func(a, b box) int { return cmp.Compare(a.start, b.start) })
	}
	return out
}

// numberOf returns the micro-batch of computation; other spans have none.
func numberOf(s *trace.Span) int {
	switch s.Kind {
	case trace.Forward, trace.Backward, trace.BackwardInput, trace.BackwardWeight, trace.Recompute, trace.Evaluation:
		return int(s.Microbatch)
	}
	return -1
}
