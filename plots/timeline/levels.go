package timeline

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"trainsim/sim"
	"trainsim/sim/trace"
)

// Columns is how many equal slices of time a series is reduced to: about the
// dots of the widest axis that is drawn at the default size.
const Columns = 1500

// Levels are step functions of time, reduced to columns over [0, end].
type Levels struct {
	End   sim.Time
	Value [][]float64 // by slot, then by column
}

// Peaks reduces counters to the state that each column of time has when the
// sum of its first stacked slots is largest, so that no peak is lost; the
// slots after them are reduced to their own largest value.
func Peaks(r *trace.Recording, slot []int, slots, stacked int, end sim.Time) Levels {
	l := Levels{End: end, Value: make([][]float64, slots)}
	for i := range l.Value {
		l.Value[i] = make([]float64, Columns)
	}
	p := peakState{Levels: l, now: make([]float64, slots), stacked: stacked, fresh: true}
	samplesOf(r, slot, func(at sim.Time, s int, change float64) {
		p.advance(min(at, end))
		p.now[s] += change
	})
	p.advance(end)
	return l
}

type peakState struct {
	Levels
	now     []float64
	stacked int
	at      sim.Time
	column  int
	fresh   bool // the column has no state yet
	best    float64
}

// advance holds the state from the last instant until at.
func (p *peakState) advance(at sim.Time) {
	if at <= p.at {
		return
	}
	last := columnOf(at, p.End)
	for p.column < last {
		p.offer()
		p.column, p.fresh = p.column+1, true
	}
	if at > startOf(last, p.End) {
		p.offer()
	}
	p.at = at
}

// offer takes the present state for the column where it beats the one before.
func (p *peakState) offer() {
	total := 0.0
	for _, v := range p.now[:p.stacked] {
		total += v
	}
	if p.fresh || total > p.best {
		for i, v := range p.now[:p.stacked] {
			p.Value[i][p.column] = v
		}
		p.best = total
	}
	for i := p.stacked; i < len(p.now); i++ {
		if p.fresh || p.now[i] > p.Value[i][p.column] {
			p.Value[i][p.column] = p.now[i]
		}
	}
	p.fresh = false
}

// columnOf and startOf divide [0, end] into columns in floating point, which
// is exact enough for dots and cannot overflow.
func columnOf(at, end sim.Time) int {
	return min(int(float64(at)/float64(end)*Columns), Columns-1)
}

func startOf(column int, end sim.Time) sim.Time {
	return sim.Time(float64(column) / Columns * float64(end))
}

// Means reduces counters to their mean over each column of time.
func Means(r *trace.Recording, slot []int, slots int, end sim.Time) Levels {
	l := Levels{End: end, Value: make([][]float64, slots)}
	now := make([]float64, slots)
	from := make([]float64, slots)
	for i := range l.Value {
		l.Value[i] = make([]float64, Columns)
	}
	width := float64(end) / Columns
	hold := func(s int, until float64) {
		for c := min(int(from[s]/width), Columns-1); now[s] != 0 && from[s] < until && c < Columns; c++ {
			next := until
			if c < Columns-1 {
				next = min(until, float64(c+1)*width)
			}
			if next > from[s] {
				l.Value[s][c] += now[s] * (next - from[s]) / width
				from[s] = next
			}
		}
		from[s] = until
	}
	samplesOf(r, slot, func(at sim.Time, s int, change float64) {
		hold(s, min(float64(at), float64(end)))
		now[s] += change
	})
	for s := range now {
		hold(s, float64(end))
	}
	return l
}

// samplesOf calls visit for the samples of the counters for which slot is not
// negative, in the order of time, with the change of the counter. Several
// counters may share a slot.
func samplesOf(r *trace.Recording, slot []int, visit func(at sim.Time, slot int, change float64)) {
	all := r.Samples()
	if !slices.IsSortedFunc(all, byTime) {
		all = slices.Clone(all)
		slices.SortStableFunc(all, byTime)
	}
	value := make([]float64, len(slot))
	for _, s := range all {
		if s.Counter >= 0 && int(s.Counter) < len(slot) && slot[s.Counter] >= 0 {
			v := float64(s.Value)
			visit(s.At, slot[s.Counter], v-value[s.Counter])
			value[s.Counter] = v
		}
	}
}

func byTime(a, b trace.Sample) int { return cmp.Compare(a.At, b.At) }

// Outline returns the step function's corners from left to right, between the
// bounds of a canvas, with equal neighbours joined.
func Outline(values []float64, c draw.Canvas, p *plot.Plot, end float64) []vg.Point {
	var pts []vg.Point
	for i, v := range values {
		if i > 0 && v == values[i-1] {
			continue
		}
		x := c.X(p.X.Norm(float64(i) / Columns * end))
		y := c.Y(p.Y.Norm(v))
		if len(pts) > 0 {
			pts = append(pts, vg.Point{X: x, Y: pts[len(pts)-1].Y})
		}
		pts = append(pts, vg.Point{X: x, Y: y})
	}
	return append(pts, vg.Point{X: c.X(p.X.Norm(end)), Y: pts[len(pts)-1].Y})
}
