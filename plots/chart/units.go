package chart

import (
	"math"
	"strconv"
	"strings"
)

// Unit is what an axis counts in: one of it is Scale of the data's own unit.
type Unit struct {
	Name  string
	Scale float64
}

// Units of seconds, bytes and bytes a second, the smallest first.
var (
	TimeUnits = []Unit{{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}
	ByteUnits = []Unit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}
	RateUnits = []Unit{{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}
)

// Percents shows shares of one.
var Percents = Unit{"%", 0.01}

// PickUnit returns the largest unit of which largest holds at least one, chosen
// once for an axis.
func PickUnit(units []Unit, largest float64) Unit {
	for i := len(units) - 1; i > 0; i-- {
		if largest >= units[i].Scale {
			return units[i]
		}
	}
	return units[0]
}

// TimeUnit keeps an axis in milliseconds up to two seconds.
func TimeUnit(seconds float64) Unit {
	if seconds >= 1 && seconds < 2 {
		return TimeUnits[3]
	}
	return PickUnit(TimeUnits, seconds)
}

// Significant writes x with n significant digits and no exponent for ordinary sizes.
func Significant(x float64, n int) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) >= 1e9 || math.Abs(x) < 1e-6 {
		return strconv.FormatFloat(x, 'g', n, 64)
	}
	decimals := n - 1 - int(math.Floor(math.Log10(math.Abs(x))))
	return strconv.FormatFloat(x, 'f', max(decimals, 0), 64)
}

// Seconds writes a time with its unit, "1.23 s".
func Seconds(s float64) string {
	u := PickUnit(TimeUnits, math.Abs(s))
	if s == 0 {
		return "0 s"
	}
	return Significant(s/u.Scale, 3) + " " + u.Name
}

// Gibibytes writes a size in GiB, or a smaller unit where GiB would be 0.0.
func Gibibytes(b float64) string {
	u := ByteUnits[3]
	if math.Abs(b) < 0.1*u.Scale {
		u = PickUnit(ByteUnits[:3], math.Abs(b))
	}
	return strconv.FormatFloat(b/u.Scale, 'f', 1, 64) + " " + u.Name
}

// Percent writes a share of one, "12.3 %".
func Percent(share float64) string {
	return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
}

// Facts joins what is known in a subtitle.
func Facts(parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "   |   ")
}
