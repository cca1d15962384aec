package gantt

import (
	"cmp"
	"slices"

	"trainsim/sim/trace"
)

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

// boxesOf collects the boxes of some lanes, each in the order of its start. A
// lane of -1 has none. Idle spans are left to the background.
func boxesOf(r *trace.Recording, lanes []int32) [][]Box {
	return boxesWhere(r, lanes, func(int, *trace.Span) bool { return true })
}

// boxesWhere is boxesOf for the spans of lanes[i] that keep(i, span) takes.
func boxesWhere(r *trace.Recording, lanes []int32, keep func(int, *trace.Span) bool) [][]Box {
	at := make([]int32, len(r.Lanes))
	for i := range at {
		at[i] = -1
	}
	for i, l := range lanes {
		if l >= 0 {
			at[l] = int32(i)
		}
	}
	out := make([][]Box, len(lanes))
	for s := range r.Spans {
		if int(s.Lane) >= len(at) || s.Lane < 0 || at[s.Lane] < 0 || s.Kind == trace.Bubble || s.End <= s.Start {
			continue
		}
		i := at[s.Lane]
		if !keep(int(i), s) {
			continue
		}
		out[i] = append(out[i], Box{s.Start.Seconds(), s.End.Seconds(), s.Kind, numberOf(s), int(s.Chunk)})
	}
	for _, boxes := range out {
		slices.SortStableFunc(boxes, func(a, b Box) int { return cmp.Compare(a.Start, b.Start) })
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
