package report

import (
	"math"
	"slices"
	"strconv"
)

// kneeGain is what is left to gain behind a knee, as a share of the best.
const kneeGain = 0.05

// Knee returns the index of the first value from which on nothing more than
// 5 % is to be gained: ys are times, ordered by what is varied. A curve that
// is flat from its first value, still falls at its last or has fewer than three
// has no knee.
func Knee(ys []float64) (index int, ok bool) {
	best := math.Inf(1)
	for _, y := range ys {
		if y > 0 {
			best = min(best, y)
		}
	}
	for i, y := range ys {
		if y > 0 && y <= best*(1+kneeGain) {
			return i, len(ys) > 2 && i > 0 && i < len(ys)-1
		}
	}
	return 0, false
}

// Curve is what a sweep varies along its figure's axis: the points of one
// series, which is everything else that varies.
type Curve struct {
	Series string
	Rows   []SweepRow // by growing value of the axis where it is a number
}

// Curves groups points into curves over one of the settings; other settings
// that go with it one to one, as those of zipped axes do, name no series.
func Curves(rows []SweepRow, axis string) []Curve {
	follows := following(rows, axis)
	var out []Curve
	index := map[string]int{}
	for _, r := range rows {
		var rest Settings
		for _, s := range r.Settings {
			if s.Key != axis && !follows[s.Key] {
				rest = append(rest, s)
			}
		}
		name := rest.Label()
		i, ok := index[name]
		if !ok {
			i = len(out)
			index[name] = i
			out = append(out, Curve{Series: name})
		}
		out[i].Rows = append(out[i].Rows, r)
	}
	for _, c := range out {
		slices.SortStableFunc(c.Rows, func(a, b SweepRow) int {
			return byNumber(a.Settings.Value(axis), b.Settings.Value(axis))
		})
	}
	return out
}

// following returns the settings whose value is always the same at the same
// value of the axis.
func following(rows []SweepRow, axis string) map[string]bool {
	out := map[string]bool{}
	seen := map[[2]string]string{}
	for _, r := range rows {
		x := r.Settings.Value(axis)
		for _, s := range r.Settings {
			at := [2]string{s.Key, x}
			if old, ok := seen[at]; !ok {
				seen[at] = s.Value
				if _, known := out[s.Key]; !known {
					out[s.Key] = true
				}
			} else if old != s.Value {
				out[s.Key] = false
			}
		}
	}
	return out
}

// Value returns the value of a key, "" if it is not among the settings.
func (s Settings) Value(key string) string {
	for _, x := range s {
		if x.Key == key {
			return x.Value
		}
	}
	return ""
}

// byNumber compares numbers; other values stay in the order in which they came.
func byNumber(a, b string) int {
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	switch {
	case errA != nil || errB != nil:
		return 0
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// CurveAxis chooses the key over which a sweep is drawn: micro-batches where
// there are three counts of them, as their knee is what such a sweep asks for;
// else the key with most values, one of numbers before others, the first of
// equals.
func CurveAxis(axes []Axis) string {
	best, most := "", -1
	for _, a := range axes {
		n := 2 * len(a.Values)
		if !slices.ContainsFunc(a.Values, notANumber) {
			n++ // decides between equals only
		}
		if key := ShortKey(a.Key); len(a.Values) > 2 && (key == "microbatches" || key == "chunks") {
			return a.Key
		}
		if n > most {
			best, most = a.Key, n
		}
	}
	return best
}

// Knee returns the point at the curve's knee, nil if it has none. Only points
// that run count.
func (c *Curve) Knee() *SweepRow {
	var at []int
	var ys []float64
	for i := range c.Rows {
		if c.Rows[i].Runs() {
			at, ys = append(at, i), append(ys, c.Rows[i].SampleTime)
		}
	}
	i, ok := Knee(ys)
	if !ok {
		return nil
	}
	return &c.Rows[at[i]]
}

// notANumber reports whether a value of an axis is none.
func notANumber(value string) bool {
	_, err := strconv.ParseFloat(value, 64)
	return err != nil
}
