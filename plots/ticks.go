package plots

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// unit is what an axis counts in: one of it is scale of the data's own unit.
type unit struct {
	name  string
	scale float64
}

var timeUnits = []unit{{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}

var byteUnits = []unit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

var rateUnits = []unit{{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}

// pick returns the largest unit of which largest holds at least one, chosen
// once for an axis.
func pick(units []unit, largest float64) unit {
	for i := len(units) - 1; i > 0; i-- {
		if largest >= units[i].scale {
			return units[i]
		}
	}
	return units[0]
}

// timeUnit keeps an axis in milliseconds up to two seconds.
func timeUnit(seconds float64) unit {
	if seconds >= 1 && seconds < 2 {
		return timeUnits[3]
	}
	return pick(timeUnits, seconds)
}

// linearTicks places about n labelled ticks from 0 to max at 1, 2 or 5 times a
// power of ten of the unit.
func linearTicks(max float64, u unit, n int) plot.ConstantTicks {
	if !(max > 0) || math.IsInf(max, 0) {
		return plot.ConstantTicks{{Value: 0, Label: "0"}}
	}
	step := niceStep(max / u.scale / float64(n))
	decimals := 0
	if step < 1 {
		decimals = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	var out plot.ConstantTicks
	for i := 0; float64(i)*step*u.scale <= max*(1+1e-9); i++ {
		v := float64(i) * step
		out = append(out, plot.Tick{Value: v * u.scale, Label: strconv.FormatFloat(v, 'f', min(decimals, 12), 64)})
	}
	return out
}

// niceStep rounds step up to 1, 2 or 5 times a power of ten.
func niceStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= step*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// sig writes x with n significant digits and no exponent for ordinary sizes.
func sig(x float64, n int) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) >= 1e9 || math.Abs(x) < 1e-6 {
		return strconv.FormatFloat(x, 'g', n, 64)
	}
	decimals := n - 1 - int(math.Floor(math.Log10(math.Abs(x))))
	return strconv.FormatFloat(x, 'f', max(decimals, 0), 64)
}

// seconds writes a time with its unit, "1.23 s".
func seconds(s float64) string {
	u := pick(timeUnits, math.Abs(s))
	if s == 0 {
		return "0 s"
	}
	return sig(s/u.scale, 3) + " " + u.name
}

// gibibytes writes a size in GiB, or a smaller unit where GiB would be 0.0.
func gibibytes(b float64) string {
	u := byteUnits[3]
	if math.Abs(b) < 0.1*u.scale {
		u = pick(byteUnits[:3], math.Abs(b))
	}
	return strconv.FormatFloat(b/u.scale, 'f', 1, 64) + " " + u.name
}

func percent(share float64) string {
	return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
}

// facts joins what is known in a subtitle.
func facts(parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "   |   ")
}
