package gantt

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
func optimizerDetail(r *trace.Recording, stages []stageLanes, boxes [][]Box) [][]Box {
	lanes := make([]int32, len(stages))
	actions := make([][]Box, len(stages))
	for i, s := range stages {
		lanes[i] = s.lanes[trace.Compute]
		for _, b := range boxes[i*rowStreams] {
			if b.Kind == trace.Optimizer {
				actions[i] = append(actions[i], b)
			}
		}
	}
	return boxesWhere(r, lanes, func(i int, s *trace.Span) bool {
		start, end := s.Start.Seconds(), s.End.Seconds()
		for _, a := range actions[i] {
			if start >= a.Start && end <= a.End {
				return true
			}
		}
		return false
	})
}

// detailed puts the boxes of the compute stream in place of the optimizer
// actions, and into their gaps what the data-parallel stream does there. A rank
// whose compute stream was not recorded keeps its actions.
func detailed(actions, compute, dp []Box) []Box {
	if len(compute) == 0 {
		return actions
	}
	var out []Box
	for _, a := range actions {
		if a.Kind != trace.Optimizer {
			out = append(out, a)
			continue
		}
		at := a.Start
		for _, b := range compute {
			if b.Start < a.Start || b.End > a.End {
				continue
			}
			out = append(out, overlap(dp, at, b.Start)...)
			b.Number = -1
			out = append(out, b)
			at = max(at, b.End)
		}
		out = append(out, overlap(dp, at, a.End)...)
	}
	slices.SortStableFunc(out, func(a, b Box) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// overlap cuts boxes, which are in order, to an interval.
func overlap(boxes []Box, start, end float64) []Box {
	var out []Box
	first, _ := slices.BinarySearchFunc(boxes, start, func(b Box, t float64) int { return cmp.Compare(b.End, t) })
	for _, b := range boxes[min(first, len(boxes)):] {
		if b.Start >= end {
			break
		}
		b.Start, b.End, b.Number = max(b.Start, start), min(b.End, end), -1
		if b.End > b.Start {
			out = append(out, b)
		}
	}
	return out
}
