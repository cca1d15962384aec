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
	// Horizon is the last instant at which something can happen in a run, 104
	// days, so that a length of time can be added to every instant.
	Horizon = 9_000_000 * Second
)

// Plus returns the instant d after t, or the sum of two lengths of time, at the
// latest Forever.
func (t Time) Plus(d Time) Time {
	if d > 0 && t > Forever-d {
		return Forever
	}
	return t + d
}

// Times returns n times as long as t, at most Forever and at least -Forever.
func (t Time) Times(n int64) Time {
	hi, lo := bits.Mul64(magnitude(int64(t)), magnitude(n))
	if hi > 0 || lo > uint64(Forever) {
		lo = uint64(Forever)
	}
	if (t < 0) != (n < 0) {
		return -Time(lo)
	}
	return Time(lo)
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Microseconds returns t in microseconds.
func (t Time) Microseconds() float64 { return float64(t) / float64(Microsecond) }

// FromSeconds rounds s seconds to the nearest picosecond. Values beyond the
// range of Time saturate; NaN gives 0.
func FromSeconds(s float64) Time { return FromPicoseconds(s * float64(Second)) }

// FromPicoseconds rounds to the nearest picosecond as FromSeconds does.
func FromPicoseconds(ps float64) Time {
	ps = math.Round(ps)
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

// String writes t in six digits, with the unit that keeps it readable, as in "1.5us".
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

// TransferTime returns how long bytes take at bytesPerSecond: the quotient of
// the two exact numbers, rounded up to a whole picosecond once a transfer;
// Forever when it is beyond the clock. It panics on a negative size or a rate
// below one byte a second, which a validated configuration cannot contain.
func TransferTime(bytes int64, bytesPerSecond float64) Time {
	if bytes < 0 || !(bytesPerSecond >= 1) {
		panic(fmt.Sprintf("sim: transfer of %d bytes at %g bytes/s", bytes, bytesPerSecond))
	}
	if bytes == 0 || math.IsInf(bytesPerSecond, 1) {
		return 0
	}
	hi, lo := bits.Mul64(uint64(bytes), uint64(Second))
	if bytesPerSecond < 1<<62 && bytesPerSecond == math.Trunc(bytesPerSecond) {
		return ceilQuotient(0, hi, lo, uint64(bytesPerSecond))
	}
	// The rate is m * 2^e with an integer m of 53 bits. A negative e widens
	// the numerator; a positive one shortens it, and rounding up there and
	// again in the division is rounding up once.
	frac, exp := math.Frexp(bytesPerSecond)
	m, e := uint64(math.Ldexp(frac, 53)), exp-53
	if e <= 0 {
		s := uint(-e)
		return ceilQuotient(hi>>(64-s), hi<<s|lo>>(64-s), lo<<s, m)
	}
	lost := uint64(0)
	for range min(e, 128) {
		lost |= lo & 1
		lo, hi = lo>>1|hi<<63, hi>>1
	}
	lo, lost = bits.Add64(lo, lost, 0)
	return ceilQuotient(0, hi+lost, lo, m)
}

// ceilQuotient divides a number of three words by d, rounded up; Forever when
// the quotient is beyond the clock.
func ceilQuotient(top, hi, lo, d uint64) Time {
	if top >= d {
		return Forever
	}
	if top > 0 || hi >= d {
		q, rem := bits.Div64(top, hi, d)
		if q > 0 {
			return Forever
		}
		hi = rem
	}
	q, rem := bits.Div64(hi, lo, d)
	if rem > 0 {
		q++
	}
	if q > math.MaxInt64 || q == 0 {
		return Forever
	}
	return Time(q)
}
