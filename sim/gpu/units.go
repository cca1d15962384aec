package gpu

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FLOPS is an arithmetic rate in floating-point operations a second that is
// written with its unit, as in "312TFLOPS".
type FLOPS float64

// Frequency is a clock rate in hertz that is written with its unit, as in "1410MHz".
type Frequency float64

// Power is an electrical power in watts that is written with its unit, as in "400W".
type Power float64

type scale struct {
	suffix string
	factor float64
}

var (
	flopsScales     = []scale{{"GFLOPS", 1e9}, {"TFLOPS", 1e12}, {"PFLOPS", 1e15}}
	frequencyScales = []scale{{"MHz", 1e6}, {"GHz", 1e9}}
	powerScales     = []scale{{"W", 1}, {"kW", 1e3}}
)

// parse reads a finite, non-negative number with one of the suffixes.
func parse(text, example string, scales []scale) (float64, error) {
	s := strings.TrimSpace(text)
	end := strings.LastIndexAny(s, "0123456789.") + 1
	number, suffix := strings.TrimSpace(s[:end]), strings.TrimSpace(s[end:])
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return 0, fmt.Errorf("%q is not a number with a unit; write something like %q", text, example)
	}
	for _, u := range scales {
		if u.suffix == suffix && !math.IsInf(x*u.factor, 0) {
			return x * u.factor, nil
		}
	}
	return 0, fmt.Errorf("%q has no known unit; write something like %q", text, example)
}

// format writes x with the largest scale that is not above it and that reads back equal.
func format(x float64, scales []scale) string {
	for i := len(scales) - 1; i >= 0; i-- {
		u := scales[i]
		if y := x / u.factor; i == 0 || (y >= 1 && y*u.factor == x) {
			return strconv.FormatFloat(y, 'f', -1, 64) + u.suffix
		}
	}
	return ""
}

// UnmarshalText reads a rate with its unit.
func (f *FLOPS) UnmarshalText(text []byte) error {
	x, err := parse(string(text), "312TFLOPS", flopsScales)
	*f = FLOPS(x)
	return err
}

// MarshalText writes the rate with its unit.
func (f FLOPS) MarshalText() ([]byte, error) { return []byte(format(float64(f), flopsScales)), nil }

// String is MarshalText as a string.
func (f FLOPS) String() string { return format(float64(f), flopsScales) }

// UnmarshalText reads a frequency with its unit.
func (f *Frequency) UnmarshalText(text []byte) error {
	x, err := parse(string(text), "1410MHz", frequencyScales)
	*f = Frequency(x)
	return err
}

// MarshalText writes the frequency with its unit.
func (f Frequency) MarshalText() ([]byte, error) {
	return []byte(format(float64(f), frequencyScales)), nil
}

// String is MarshalText as a string.
func (f Frequency) String() string { return format(float64(f), frequencyScales) }

// UnmarshalText reads a power with its unit.
func (p *Power) UnmarshalText(text []byte) error {
	x, err := parse(string(text), "400W", powerScales)
	*p = Power(x)
	return err
}

// MarshalText writes the power with its unit.
func (p Power) MarshalText() ([]byte, error) { return []byte(format(float64(p), powerScales)), nil }

// String is MarshalText as a string.
func (p Power) String() string { return format(float64(p), powerScales) }
