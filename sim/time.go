package sim

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// Time is a point on, or a length of, the simulated clock in picoseconds.
// An int64 of picoseconds reaches 106 days, and every value below 2^53 ps
// (2.5 hours) is exact in a float64, so figures and JSON readers lose nothing.
type Time int64

// Common lengths of time.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// Forever is later than everything that happens.
	Forever Time = math.MaxInt64
)

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Microseconds returns t in microseconds.
func (t Time) Microseconds() float64 { return float64(t) / float64(Microsecond) }

// FromSeconds rounds s seconds to the nearest picosecond. Values beyond the
// range of Time saturate; NaN gives 0.
func FromSeconds(s float64) Time {
	ps := math.Round(s * float64(Second))
	switch {
	case math.IsNaN(ps):
		return 0
	case ps >= math.MaxInt64:
		return Forever
	case ps <= -math.MaxInt64:
		return -Forever
	}
	return Time(ps)
}

// String writes t with the unit that keeps it readable, as in "1.5us".
func (t Time) String() string {
	abs := t
	if abs < 0 {
		abs = -abs
	}
	switch {
	case abs == 0:
		return "0s"
	case abs < Nanosecond:
		return strconv.FormatInt(int64(t), 10) + "ps"
	case abs < Microsecond:
		return trim(float64(t)/float64(Nanosecond)) + "ns"
	case abs < Millisecond:
		return trim(float64(t)/float64(Microsecond)) + "us"
	case abs < Second:
		return trim(float64(t)/float64(Millisecond)) + "ms"
	}
	return trim(t.Seconds()) + "s"
}

func trim(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// TransferTime returns how long bytes take at bytesPerSecond: the quotient in
// 128-bit arithmetic, rounded up to a whole picosecond once a transfer. It
// panics on a negative size or a rate below one byte a second, which a
// validated configuration cannot contain.
func TransferTime(bytes int64, bytesPerSecond float64) Time {
	if bytes < 0 || !(bytesPerSecond >= 1) {
		panic(fmt.Sprintf("sim: transfer of %d bytes at %g bytes/s", bytes, bytesPerSecond))
	}
	if bytes == 0 || math.IsInf(bytesPerSecond, 1) {
		return 0
	}
	if bytesPerSecond >= 1<<63 {
		return 1
	}
	rate := uint64(math.Round(bytesPerSecond))
	hi, lo := bits.Mul64(uint64(bytes), uint64(Second))
	if hi >= rate {
		return Forever
	}
	q, rem := bits.Div64(hi, lo, rate)
	if rem > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return Forever
	}
	return Time(q)
}
