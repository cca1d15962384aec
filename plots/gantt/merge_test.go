package gantt

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/plot/vg"

	"trainsim/plots/chart"
	"trainsim/sim"
	"trainsim/sim/trace"
)

func TestMergeKeepsInk(t *testing.T) {
	rnd := sim.NewRand(7, "merge")
	x := func(v float64) vg.Length { return vg.Length(v) * chart.Dot }
	for range 50 {
		var boxes []Box
		at, busyTime := 0.0, 0.0
		for at < 200 {
			at += rnd.Float64() * 0.5
			w := rnd.Float64() * math.Pow(10, 2*rnd.Float64()-2)
			boxes = append(boxes, Box{at, at + w, trace.Kind(rnd.IntN(3)), -1, 0})
			at += w
			busyTime += w
		}
		out := merge(boxes, x)
		assert.LessOrEqual(t, len(out), 2*210)
		ink := 0.0
		for i, b := range out {
			assert.LessOrEqual(t, b.x0, b.x1)
			if i > 0 {
				assert.GreaterOrEqual(t, b.x0+1e-9, out[i-1].x0)
			}
			ink += float64((b.x1 - b.x0) / chart.Dot)
		}
		assert.InDelta(t, busyTime, ink, 0.5*at)
	}
}

// A million boxes become no more rectangles than there are dots.
func TestManyBoxesAreMerged(t *testing.T) {
	boxes := make([]Box, 1_000_000)
	for i := range boxes {
		boxes[i] = Box{float64(i), float64(i) + 0.9, trace.Kind(i % 2), -1, 0}
	}
	x := func(v float64) vg.Length { return vg.Length(v/1000) * chart.Dot }
	assert.LessOrEqual(t, len(merge(boxes, x)), 1001)
}

// What spread adds to columns is what the interval is long.
func TestSpreadConserves(t *testing.T) {
	rnd := sim.NewRand(3, "spread")
	for range 1000 {
		sums := make([]shares, 10)
		from := rnd.Float64() * 9
		to := from + rnd.Float64()*(10-from)
		spread(sums, trace.DP.Kind(), from, to)
		total := 0.0
		for _, s := range sums {
			assert.LessOrEqual(t, s[trace.DP.Kind()], 1+1e-9)
			total += s[trace.DP.Kind()]
		}
		assert.InDelta(t, to-from, total, 1e-9)
	}
}

func TestOptimizerShowsWhatItWaitsFor(t *testing.T) {
	actions := []Box{{0, 10, trace.Backward, 3, 0}, {10, 20, trace.Optimizer, -1, 0}}
	compute := []Box{{16, 17, trace.Optimizer, -1, 0}, {17, 20, trace.Optimizer, -1, 0}}
	dp := []Box{{8, 12, trace.DP.Kind(), -1, 0}, {12, 15, trace.DP.Kind(), -1, 0}}
	assert.Equal(t, []Box{
		actions[0],
		{10, 12, trace.DP.Kind(), -1, 0}, {12, 15, trace.DP.Kind(), -1, 0},
		{16, 17, trace.Optimizer, -1, 0}, {17, 20, trace.Optimizer, -1, 0},
	}, detailed(actions, compute, dp))
	assert.Equal(t, actions, detailed(actions, nil, dp))
}
