package plots

import (
	"cmp"
	"slices"

	"trainsim/sim/trace"
)

// The optimizer's action begins when the last backward ends, and so contains
// the wait for gradients and for other stages. The figure shows its kernels, the
// data-parallel communication that they wait for, and idle time.

// optimizerDetail returns, for each stage, the boxes of the compute stream that
// lie within its optimizer actions. boxes holds rowStreams lists a stage, its
// actions first.
func optimizerDetail(r *trace.Recording, stages []stageLanes, boxes [][]box) [][]box {
	lanes := make([]int32, len(stages))
	actions := make([][]box, len(stages))
	for i, s := range stages {
		lanes[i] = s.lanes[trace.Compute]
		for _, b := range boxes[i*rowStreams] {
			if b.kind == trace.Optimizer {
				actions[i] = append(actions[i], b)
			}
		}
	}
	return boxesWhere(r, lanes, func(i int, s *trace.Span) bool {
		start, end := s.Start.Seconds(), s.End.Seconds()
		for _, a := range actions[i] {
			if start >= a.start && end <= a.end {
				return true
			}
		}
		return false
	})
}

// detailed puts the boxes of the compute stream in place of the optimizer
// actions, and into their gaps what the data-parallel stream does there. A rank
// whose compute stream was not recorded keeps its actions.
func detailed(actions, compute, dp []box) []box {
	if len(compute) == 0 {
		return actions
	}
	var out []box
	for _, a := range actions {
		if a.kind != trace.Optimizer {
			out = append(out, a)
			continue
		}
		at := a.start
		for _, b := range compute {
			if b.start < a.start || b.end > a.end {
				continue
			}
			out = append(out, overlap(dp, at, b.start)...)
			b.number = -1
			out = append(out, b)
			at = max(at, b.end)
		}
		out = append(out, overlap(dp, at, a.end)...)
	}
	slices.SortStableFunc(out, func(a, b box) int { return cmp.Compare(a.start, b.start) })
	return out
}

// overlap cuts boxes, which are in order, to an interval.
func overlap(boxes []box, start, end float64) []box {
	var out []box
	first, _ := slices.BinarySearchFunc(boxes, start, func(b box, t float64) int { return cmp.Compare(b.end, t) })
	for _, b := range boxes[min(first, len(boxes)):] {
		if b.start >= end {
			break
		}
		b.start, b.end, b.number = max(b.start, start), min(b.end, end), -1
		if b.end > b.start {
			out = append(out, b)
		}
	}
	return out
}
