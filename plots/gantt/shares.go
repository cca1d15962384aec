package gantt

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/plots/chart"
	"trainsim/sim/trace"
)

// shareWidth is the width of the columns in which short boxes are summed up.
const shareWidth = 2 * chart.Dot

// shares is how much of a column each kind fills, up to 1 together.
type shares [trace.NumKinds]float64

// drawShares draws a stream of many short boxes: a box of three columns or more
// as it is, shorter ones as the share of each column that they fill, stacked by
// kind. So a link that is busy an eighth of the time is seen as an eighth of the
// row, whatever the width of a dot.
func drawShares(c draw.Canvas, boxes []Box, x func(float64) vg.Length, y0, y1 vg.Length) {
	first := math.Floor(float64(c.Min.X / shareWidth))
	sums := make([]shares, int(math.Ceil(float64(c.Max.X/shareWidth))-first)+1)
	for _, b := range boxes {
		x0, x1 := x(b.Start), x(b.End)
		if x1-x0 >= 3*shareWidth {
			chart.FillRect(c, chart.KindColor(b.Kind), chart.Snap(x0), y0, chart.Snap(x1), y1)
			continue
		}
		if b.Kind < trace.NumKinds {
			spread(sums, b.Kind, float64(x0/shareWidth)-first, float64(x1/shareWidth)-first)
		}
	}
	for i, sum := range sums {
		left := vg.Length(first+float64(i)) * shareWidth
		y := y0
		for k, share := range sum {
			if h := vg.Length(min(share, 1)) * (y1 - y0); h > chart.Dot/4 {
				chart.FillRect(c, chart.KindColor(trace.Kind(k)), left, y, left+shareWidth, min(y+h, y1))
				y = min(y+h, y1)
			}
		}
	}
}

// spread adds an interval, in columns, to the columns that it covers.
func spread(sums []shares, k trace.Kind, from, to float64) {
	for i := max(int(from), 0); i < len(sums) && float64(i) < to; i++ {
		sums[i][k] += max(0, min(to, float64(i+1))-max(from, float64(i)))
	}
}
