package sim

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Bytes is a size in bytes that is written with its unit, as in "80GiB".
type Bytes int64

// Bandwidth is a rate in bytes a second that is written with its unit, as in
// "450GB/s" or "400Gb/s" (bits).
type Bandwidth float64

// unit is a name and the bytes, bytes a second or picoseconds that it means.
type unit struct {
	name  string
	scale float64
}

var (
	byteUnits = []unit{
		{"B", 1}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15},
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	}
	rateUnits = []unit{
		{"B/s", 1}, {"kB/s", 1e3}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12},
		{"KiB/s", 1 << 10}, {"MiB/s", 1 << 20}, {"GiB/s", 1 << 30}, {"TiB/s", 1 << 40},
		{"kb/s", 1e3 / 8}, {"Kb/s", 1e3 / 8}, {"Mb/s", 1e6 / 8}, {"Gb/s", 1e9 / 8}, {"Tb/s", 1e12 / 8},
	}
	timeUnits = []unit{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"\u00b5s", 1e6}, {"\u03bcs", 1e6}, {"ms", 1e9},
		{"s", 1e12}}
)

// split takes text apart into a number, not yet read, and the scale of one of
// the units. Errors show example.
func split(text, example string, units []unit) (number string, scale float64, err error) {
	s := strings.TrimSpace(text)
	i := strings.LastIndexAny(s, "0123456789.") + 1
	number, name := strings.TrimSpace(s[:i]), strings.TrimSpace(s[i:])
	if i == 0 || strings.ContainsAny(number, "xXpP") { // no number, or a hexadecimal one
		return "", 0, notANumber(text, example)
	}
	if name == "" {
		return "", 0, fmt.Errorf("%q has no unit; write something like %q", text, example)
	}
	for _, u := range units {
		if u.name == name {
			return strings.ReplaceAll(number, "_", ""), u.scale, nil
		}
	}
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.name
	}
	return "", 0, fmt.Errorf(
		"%q has the unknown unit %q; write something like %q (units: %s)",
		text, name, example, strings.Join(names, ", "))
}

func notANumber(text, example string) error {
	return fmt.Errorf("%q is not a number with a unit; write something like %q", text, example)
}

// parse reads a finite, non-negative number with one of the units.
func parse(text, example string, units []unit) (float64, error) {
	number, scale, err := split(text, example, units)
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsInf(x*scale, 0):
		return 0, notANumber(text, example)
	case x < 0:
		return 0, fmt.Errorf("%q is negative; write something like %q", text, example)
	}
	return math.Abs(x) * scale, nil
}

// parseInt is parse for what is counted: whole numbers are exact beyond 2^53
// too, others are rounded to the nearest. Above an int64 the error names limit.
func parseInt(text, example, limit string, units []unit) (int64, error) {
	if number, scale, err := split(text, example, units); err == nil {
		n, err := strconv.ParseUint(number, 10, 64)
		if hi, lo := bits.Mul64(n, uint64(scale)); err == nil && hi == 0 && lo <= math.MaxInt64 {
			return int64(lo), nil
		}
	}
	x, err := parse(text, example, units)
	if err == nil && x >= math.MaxInt64 {
		err = fmt.Errorf("%q is more than %s", text, limit)
	}
	if err != nil {
		return 0, err
	}
	return int64(math.Round(x)), nil
}

// ParseBytes reads a size such as "80GiB" or "1.5MB".
func ParseBytes(text string) (Bytes, error) {
	n, err := parseInt(text, "80GiB", "8 EiB", byteUnits)
	return Bytes(n), err
}

// ParseBandwidth reads a rate such as "450GB/s" or "400Gb/s".
func ParseBandwidth(text string) (Bandwidth, error) {
	x, err := parse(text, "450GB/s", rateUnits)
	return Bandwidth(x), err
}

// ParseTime reads a length of time such as "1.5us".
func ParseTime(text string) (Time, error) {
	n, err := parseInt(text, "1.5us", "106 days", timeUnits)
	return Time(n), err
}

// UnmarshalText reads a size with its unit.
func (b *Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBytes(string(text))
	return err
}

// MarshalText writes the size exactly, with the largest unit that divides it.
func (b Bytes) MarshalText() ([]byte, error) {
	best := byteUnits[0]
	for _, u := range byteUnits {
		if b > 0 && int64(b)%int64(u.scale) == 0 && u.scale > best.scale {
			best = u
		}
	}
	return []byte(strconv.FormatInt(int64(b)/int64(best.scale), 10) + best.name), nil
}

// String is MarshalText as a string.
func (b Bytes) String() string { t, _ := b.MarshalText(); return string(t) }

// UnmarshalText reads a rate with its unit.
func (r *Bandwidth) UnmarshalText(text []byte) (err error) {
	*r, err = ParseBandwidth(string(text))
	return err
}

// MarshalText writes the rate exactly, in the largest decimal unit not above it.
func (r Bandwidth) MarshalText() ([]byte, error) {
	for _, u := range []unit{{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}} {
		if x := float64(r) / u.scale; x >= 1 && x*u.scale == float64(r) {
			return []byte(strconv.FormatFloat(x, 'f', -1, 64) + u.name), nil
		}
	}
	return []byte(strconv.FormatFloat(float64(r), 'f', -1, 64) + "B/s"), nil
}

// String is MarshalText as a string.
func (r Bandwidth) String() string { t, _ := r.MarshalText(); return string(t) }

// UnmarshalText reads a length of time with its unit.
func (t *Time) UnmarshalText(text []byte) (err error) {
	*t, err = ParseTime(string(text))
	return err
}

// MarshalText writes the time exactly, with the largest unit that divides it,
// unlike String, which is for reading.
func (t Time) MarshalText() ([]byte, error) {
	for _, u := range []struct {
		name  string
		scale Time
	}{{"s", Second}, {"ms", Millisecond}, {"us", Microsecond}, {"ns", Nanosecond}} {
		if t != 0 && t%u.scale == 0 {
			return []byte(strconv.FormatInt(int64(t/u.scale), 10) + u.name), nil
		}
	}
	return []byte(strconv.FormatInt(int64(t), 10) + "ps"), nil
}
