package gantt

import (
	"fmt"

	"trainsim/plots/chart"
	"trainsim/plots/timeline"
	"trainsim/sim/trace"
)

// ErrNoActions is what there is to say of a recording without a schedule.
const ErrNoActions = chart.Empty("plots: the recording has no actions of the schedule to draw")

// Pipeline reads from a recording what each pipeline rank does, one rank a stage,
// with its data-parallel stream under it or, of few stages, every stream that has
// work.
func Pipeline(r *trace.Recording) (*Chart, error) {
	stages := representatives(r)
	if len(stages) == 0 {
		return nil, ErrNoActions
	}
	if len(stages) > chart.MaxRows {
		return nil, fmt.Errorf("plots: %d stages are more than the %d rows that a figure holds", len(stages),
			chart.MaxRows)
	}
	g := &Chart{End: timeline.Makespan(r).Seconds(), Chunks: 1}
	if g.End <= 0 {
		return nil, ErrNoActions
	}
	boxes := boxesOf(r, lanesOf(stages))
	inside := optimizerDetail(r, stages, boxes)
	for i, s := range stages {
		streams := boxes[i*rowStreams : (i+1)*rowStreams]
		actions := detailed(streams[0], inside[i], streams[trace.DP.Stream()])
		g.Rows = append(g.Rows, Row{Label: stageLabel(s, i, len(stages)), Boxes: actions})
		for k, boxes := range streams[1:] {
			if total(boxes) > g.End/200 {
				g.Rows = append(g.Rows, Row{Label: streamLabel(trace.Stream(k+1), len(stages)), Thin: true,
					Boxes: boxes})
			}
		}
		for _, b := range actions {
			g.Chunks = max(g.Chunks, b.Chunk+1)
		}
	}
	return g, nil
}

// fewStages have room for every stream; where more share the page, only the
// data-parallel stream joins the actions.
const fewStages = 2

// rowStreams is how many streams of a stage may have a row, actions first.
const rowStreams = int(trace.NumStreams)

// streamLabel names a row under a rank where there is room.
func streamLabel(stream trace.Stream, stages int) string {
	switch {
	case stages > 8:
		return ""
	case stream == trace.Compute:
		return "kernels"
	}
	return stream.String() + " stream"
}

// stageLabel names every row, or every n-th where rows are too low for text.
func stageLabel(s stageLanes, i, stages int) string {
	if every := (stages + 23) / 24; i%every != 0 {
		return ""
	}
	return fmt.Sprintf("stage %d (rank %d)", s.stage, s.rank)
}
