package gantt

import (
	"math"

	"gonum.org/v1/plot/vg"

	"trainsim/plots/chart"
	"trainsim/sim/trace"
)

// inked is a rectangle to draw.
type inked struct {
	x0, x1 vg.Length
	kind   trace.Kind
	chunk  int
}

// merge returns what to draw for boxes in the order of their start: boxes
// narrower than a dot become one a dot, in the colour that fills most of it.
func merge(boxes []Box, x func(float64) vg.Length) []inked {
	var out []inked
	var small bucket
	for _, b := range boxes {
		x0, x1 := x(b.Start), x(b.End)
		if x1-x0 >= chart.Dot {
			out = small.flush(out)
			out = append(out, inked{chart.Snap(x0), chart.Snap(x1), b.Kind, b.Chunk})
			continue
		}
		at := math.Floor(float64(x0 / chart.Dot))
		if at != small.dot {
			out = small.flush(out)
			small.dot = at
		}
		small.share[min(b.Kind, trace.NumKinds)] += float64(x1 - x0)
		small.used = true
	}
	return small.flush(out)
}

// bucket gathers what falls within one dot.
type bucket struct {
	dot   float64
	share [trace.NumKinds + 1]float64
	used  bool
}

func (s *bucket) flush(out []inked) []inked {
	if !s.used {
		return out
	}
	best := 0
	total := 0.0
	for k, v := range s.share {
		total += v
		if v > s.share[best] {
			best = k
		}
	}
	if total >= float64(chart.Dot)/4 {
		x0 := vg.Length(s.dot) * chart.Dot
		out = append(out, inked{x0, x0 + chart.Dot, trace.Kind(best), 0})
	}
	*s = bucket{}
	return out
}
