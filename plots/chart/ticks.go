package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// LinearTicks places about n labelled ticks from 0 to max at 1, 2 or 5 times a
// power of ten of the unit.
func LinearTicks(max float64, u Unit, n int) plot.ConstantTicks {
	if !(max > 0) || math.IsInf(max, 0) {
		return plot.ConstantTicks{{Value: 0, Label: "0"}}
	}
	step := niceStep(max / u.Scale / float64(n))
	decimals := 0
	if step < 1 {
		decimals = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	var out plot.ConstantTicks
	for i := 0; float64(i)*step*u.Scale <= max*(1+1e-9); i++ {
		v := float64(i) * step
		out = append(out, plot.Tick{Value: v * u.Scale, Label: strconv.FormatFloat(v, 'f', min(decimals, 12), 64)})
	}
	return out
}

// Drawable says whether v has a place on a logarithmic axis.
func Drawable(v float64) bool { return v > 1e-30 && v < 1e30 }

// LogTicks labels powers of ten, and 2 and 5 times them where fewer than three
// decades are shown; the rest are minor.
func LogTicks(lo, hi float64) plot.ConstantTicks {
	var out plot.ConstantTicks
	close := math.Log10(hi/lo) < 3
	every := 1 + int(math.Log10(hi/lo)/12)
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow(10, float64(e))
			if v < lo || v > hi {
				continue
			}
			label := ""
			if m == 1 && e%every == 0 || close && (m == 2 || m == 5) {
				label = Significant(v, 1)
			}
			out = append(out, plot.Tick{Value: v, Label: label})
		}
	}
	return out
}

// TicksBetween is LinearTicks from a minimum on.
func TicksBetween(low, high float64, u Unit, n int) plot.ConstantTicks {
	step := niceStep((high-low)/u.Scale/float64(n)) * u.Scale
	decimals := max(0, int(math.Ceil(-math.Log10(step/u.Scale)-1e-9)))
	var out plot.ConstantTicks
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-9); i++ {
		out = append(out, plot.Tick{Value: i * step,
			Label: strconv.FormatFloat(i*step/u.Scale, 'f', min(decimals, 12), 64)})
	}
	return out
}

// Scaled turns ticks in a unit into ticks in the data's own.
func Scaled(ticks plot.ConstantTicks, u Unit) plot.ConstantTicks {
	for i := range ticks {
		ticks[i].Value *= u.Scale
	}
	return ticks
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
