package sim

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exactTransfer is the definition: ceil(bytes * 1e12 / rate) over the rationals.
func exactTransfer(bytes int64, rate float64) Time {
	q := new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(bytes), big.NewInt(int64(Second))))
	q.Quo(q, new(big.Rat).SetFloat64(rate))
	ceil, rem := new(big.Int).DivMod(q.Num(), q.Denom(), new(big.Int))
	if rem.Sign() > 0 {
		ceil.Add(ceil, big.NewInt(1))
	}
	if !ceil.IsInt64() {
		return Forever
	}
	return Time(ceil.Int64())
}

func TestTransferTimeAgainstBig(t *testing.T) {
	sizes := []int64{0, 1, 2, 64 << 10, 1 << 20, 1<<31 - 1, 1 << 40, 1 << 52, math.MaxInt64 - 1, math.MaxInt64}
	rates := []float64{1, 1.5, math.Pi, 1e3, 25e9, 450e9, 450e9 / 7, 1.8e12, 3.35e12, 1 << 53, 1<<53 + 2, 1 << 61, 1 << 62, 1 << 63, 3e19, 1e25, 1e40, math.MaxFloat64}
	for _, n := range sizes {
		for _, r := range rates {
			require.Equal(t, exactTransfer(n, r), TransferTime(n, r), "%d bytes at %g", n, r)
		}
	}
	r := NewRand(1, "transfer")
	for range 50_000 {
		n := r.Int64N(math.MaxInt64) >> r.IntN(63)
		rate := math.Exp(r.Float64() * 60)
		require.Equal(t, exactTransfer(n, rate), TransferTime(n, rate), "%d bytes at %g", n, rate)
	}
}

func TestTransferTime(t *testing.T) {
	tests := []struct {
		name  string
		bytes int64
		rate  float64
		want  Time
	}{
		{"whole seconds", 900e9, 450e9, 2 * Second},
		{"64 KiB over HBM3 keeps its picoseconds", 64 << 10, 3.35e12, 19563},
		{"9.3 MB overflows no int64", 9_300_000, 25e9, 372 * Microsecond},
		{"a rate per flow is not rounded to bytes", 1e12, 450e9 / 7, 15555555555556},
		{"half a byte a second counts", 3, 1.5, 2 * Second},
		{"nothing takes no time", 0, 1, 0},
		{"an infinite rate takes none", 1 << 40, math.Inf(1), 0},
		{"anything takes at least 1 ps", 1, 1e18, 1},
		{"beyond the clock", math.MaxInt64, 1, Forever},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, TransferTime(tt.bytes, tt.rate)) })
	}
}

func TestTransferTimeRefusesWhatNoConfigurationHolds(t *testing.T) {
	assert.PanicsWithValue(t, "sim: transfer of -1 bytes at 1 bytes/s", func() { TransferTime(-1, 1) })
	assert.Panics(t, func() { TransferTime(1, 0) })
	assert.Panics(t, func() { TransferTime(1, math.NaN()) })
}

func TestFromSeconds(t *testing.T) {
	for want, s := range map[Time]float64{
		0: math.NaN(), 1: 1.4e-12, 2: 1.5e-12, -Second: -1, 1500 * Nanosecond: 1.5e-6,
		Forever: 1e30, -Forever: math.Inf(-1),
	} {
		assert.Equal(t, want, FromSeconds(s), "%g s", s)
	}
}

// Below 2^53 ps a Time survives the way through seconds.
func TestSecondsRoundTrip(t *testing.T) {
	r := NewRand(2, "seconds")
	for range 10_000 {
		at := Time(r.Int64N(1 << 50))
		require.Equal(t, at, FromSeconds(at.Seconds()))
	}
}

func TestTimeString(t *testing.T) {
	for want, at := range map[string]Time{
		"0s": 0, "1ps": 1, "999ps": 999, "1.5ns": 1500, "-1.5ns": -1500, "2us": 2 * Microsecond,
		"12.3457ms": 12345678901, "1s": Second, "90s": 90 * Second,
	} {
		assert.Equal(t, want, at.String())
	}
	assert.Equal(t, 1.5, (1500 * Nanosecond).Microseconds())
}

// Sums and multiples beyond the clock are Forever.
func TestSaturation(t *testing.T) {
	assert.Equal(t, 3*Second, Second.Plus(2*Second))
	assert.Equal(t, Forever, Forever.Plus(1))
	assert.Equal(t, Forever, Horizon.Plus(Horizon))
	assert.Equal(t, Forever, (Forever - 1).Plus(1))
	assert.Equal(t, 6*Second, (2 * Second).Times(3))
	assert.Equal(t, Time(0), Forever.Times(0))
	assert.Equal(t, -6*Second, (2 * Second).Times(-3))
	assert.Equal(t, 6*Second, (-2 * Second).Times(-3))
	assert.Equal(t, -Forever, Forever.Times(-2))
	assert.Equal(t, Second, (-Second).Plus(2*Second))
	assert.Equal(t, -Second, Second.Plus(-2*Second))
	assert.Equal(t, Forever, Forever.Times(2))
	assert.Equal(t, Forever, Horizon.Times(1<<40))
	assert.Equal(t, Forever, FromPicoseconds(1e19))
	assert.Equal(t, Time(3), FromPicoseconds(2.5))
}
