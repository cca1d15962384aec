package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0B": 0, "1B": 1, "80GiB": 80 << 30, "80GB": 80e9, "1.5MB": 1_500_000, " 24 GB ": 24e9, "1_000kB": 1e6,
		"1e3KB": 1e6, ".5KiB": 512, "9007199254740993B": 1<<53 + 1, "9223372036854775807B": math.MaxInt64, "-0B": 0,
	} {
		got, err := ParseBytes(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseBandwidth(t *testing.T) {
	for text, want := range map[string]Bandwidth{
		"450GB/s": 450e9, "400Gb/s": 50e9, "1.8TB/s": 1.8e12, "8kb/s": 1e3, "8Kb/s": 1e3, "1KB/s": 1e3, "0B/s": 0, "64GiB/s": 64 << 30,
	} {
		got, err := ParseBandwidth(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]Time{
		"1.5us": 1500 * Nanosecond, "1.1ms": 1100 * Microsecond, "3\u00b5s": 3 * Microsecond, "3\u03bcs": 3 * Microsecond,
		"2s": 2 * Second, "7ps": 7, "9223372036854775807ps": Forever, "0.4ps": 0,
	} {
		got, err := ParseTime(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestUnitErrorsSayWhatToWrite(t *testing.T) {
	tests := map[string]string{
		"":          `"" is not a number with a unit; write something like "450GB/s"`,
		"fast":      `"fast" is not a number with a unit; write something like "450GB/s"`,
		"450":       `"450" has no unit; write something like "450GB/s"`,
		"-1GB/s":    `"-1GB/s" is negative; write something like "450GB/s"`,
		"NaNGB/s":   `"NaNGB/s" is not a number with a unit; write something like "450GB/s"`,
		"infGB/s":   `"infGB/s" is not a number with a unit; write something like "450GB/s"`,
		"1e309B/s":  `"1e309B/s" is not a number with a unit; write something like "450GB/s"`,
		"1e308GB/s": `"1e308GB/s" is not a number with a unit; write something like "450GB/s"`,
		"0x10GB/s":  `"0x10GB/s" is not a number with a unit; write something like "450GB/s"`,
		"1.2.3GB/s": `"1.2.3GB/s" is not a number with a unit; write something like "450GB/s"`,
	}
	for text, want := range tests {
		_, err := ParseBandwidth(text)
		assert.EqualError(t, err, want)
	}
	_, err := ParseBandwidth("450GB")
	assert.ErrorContains(t, err, `"450GB" has the unknown unit "GB"; write something like "450GB/s" (units: B/s, kB/s,`)
	_, err = ParseBytes("16EB")
	assert.ErrorContains(t, err, "unknown unit")
	_, err = ParseBytes("9300PB")
	assert.EqualError(t, err, `"9300PB" is more than 8 EiB`)
	_, err = ParseTime("1e8s")
	assert.EqualError(t, err, `"1e8s" is more than 106 days`)
}

func TestMarshalText(t *testing.T) {
	assert.Equal(t, "80GiB", Bytes(80<<30).String())
	assert.Equal(t, "80GB", Bytes(80e9).String())
	assert.Equal(t, "12345B", Bytes(12345).String())
	assert.Equal(t, "-1024B", Bytes(-1024).String())
	assert.Equal(t, "0B", Bytes(0).String())
	assert.Equal(t, "450GB/s", Bandwidth(450e9).String())
	assert.Equal(t, "1.8TB/s", Bandwidth(1.8e12).String())
	assert.Equal(t, "12.5GB/s", Bandwidth(12.5e9).String())
	text, err := (1500 * Nanosecond).MarshalText()
	require.NoError(t, err)
	assert.Equal(t, "1500ns", string(text))
}

// What the parsers accept they write in a form that they read as the same
// value, and they write that value the same way again.
func FuzzParseUnits(f *testing.F) {
	for _, s := range []string{"80GiB", "450GB/s", "400Gb/s", "1.5us", "-1B", "NaN", "9007199254740993B", "1e308GB/s", "0x1p4KB", "1__0ms", "\u00b5s", ".", "1.5.B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseBytes(s); err == nil {
			require.GreaterOrEqual(t, v, Bytes(0))
			again, err := ParseBytes(v.String())
			require.NoError(t, err)
			require.Equal(t, v, again)
		}
		if v, err := ParseBandwidth(s); err == nil {
			require.GreaterOrEqual(t, v, Bandwidth(0))
			again, err := ParseBandwidth(v.String())
			require.NoError(t, err)
			require.Equal(t, v, again)
		}
		if v, err := ParseTime(s); err == nil {
			require.GreaterOrEqual(t, v, Time(0))
			text, err := v.MarshalText()
			require.NoError(t, err)
			var again Time
			require.NoError(t, again.UnmarshalText(text))
			require.Equal(t, v, again)
		}
	})
}

func TestUnmarshalText(t *testing.T) {
	var b Bytes
	require.NoError(t, b.UnmarshalText([]byte("2KiB")))
	assert.Equal(t, Bytes(2048), b)
	var r Bandwidth
	require.NoError(t, r.UnmarshalText([]byte("8kb/s")))
	assert.Equal(t, Bandwidth(1000), r)
	assert.Error(t, r.UnmarshalText([]byte("1000")))
}
