package plots

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// logSpan is the ratio of the ends from which an axis of numbers is logarithmic.
const logSpan = 8

// sweepAxis places the values of what is varied.
type sweepAxis struct {
	name     string
	values   []string // by growing place
	at       map[string]float64
	numbers  bool
	min, max float64
}

// newSweepAxis gives each value its place: its number, the logarithm of that,
// or its turn.
func newSweepAxis(name string, points []SweepPoint) sweepAxis {
	a := sweepAxis{name: name, at: map[string]float64{}, numbers: true}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		if _, ok := a.at[p.X]; ok {
			continue
		}
		x, err := strconv.ParseFloat(p.X, 64)
		a.numbers = a.numbers && err == nil && math.Abs(x) < 1e15
		a.at[p.X] = x
		a.values = append(a.values, p.X)
		low, high = min(low, x), max(high, x)
	}
	logs := a.numbers && low > 0 && high >= logSpan*low
	for i, v := range a.values {
		switch {
		case !a.numbers:
			a.at[v] = float64(i)
		case logs:
			a.at[v] = math.Log(a.at[v])
		}
	}
	slices.SortStableFunc(a.values, func(v, w string) int { return cmp.Compare(a.at[v], a.at[w]) })
	a.bounds()
	return a
}

// bounds leaves room at both ends.
func (a *sweepAxis) bounds() {
	if len(a.values) == 0 {
		a.min, a.max = 0, 1
		return
	}
	first, last := a.at[a.values[0]], a.at[a.values[len(a.values)-1]]
	margin := (last - first) * 0.08
	if !a.numbers || margin == 0 {
		margin = 0.5
	}
	a.min, a.max = first-margin, last+margin
}

// ticks labels as many values as there is room for.
func (a *sweepAxis) ticks(t theme, width vg.Length) plot.ConstantTicks {
	sty := t.text(13)
	var out plot.ConstantTicks
	free := math.Inf(-1) // from where there is room again, in dots of the axis
	for _, v := range a.values {
		label := clip(sty, v, width/2)
		half := float64(sty.Width(label)/2 + t.pt(4))
		x := (a.at[v] - a.min) / (a.max - a.min) * float64(width)
		tick := plot.Tick{Value: a.at[v]}
		if x-half >= free {
			tick.Label = label
			free = x + half
		}
		out = append(out, tick)
	}
	if len(out) > denseAxis { // unlabelled ticks would run together
		out = slices.DeleteFunc(out, func(k plot.Tick) bool { return k.Label == "" })
	}
	return out
}
