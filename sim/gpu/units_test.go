package gpu

import (
	"encoding"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnitsAreReadAndWritten(t *testing.T) {
	for _, c := range []struct {
		text string
		into interface {
			encoding.TextUnmarshaler
			encoding.TextMarshaler
		}
		want float64
	}{
		{"312TFLOPS", new(FLOPS), 312e12}, {"1.9789 PFLOPS", new(FLOPS), 1978.9e12}, {"1410MHz", new(Frequency), 1.41e9},
		{"1.41GHz", new(Frequency), 1.41e9}, {"400W", new(Power), 400}, {"1kW", new(Power), 1000},
	} {
		require.NoError(t, c.into.UnmarshalText([]byte(c.text)), c.text)
		assert.InEpsilon(t, c.want, value(c.into), 1e-12, c.text)
		text, err := c.into.MarshalText()
		require.NoError(t, err)
		require.NoError(t, c.into.UnmarshalText(text), string(text))
		assert.InEpsilon(t, c.want, value(c.into), 1e-12, string(text))
	}
}

func value(x any) float64 {
	switch x := x.(type) {
	case *FLOPS:
		return float64(*x)
	case *Frequency:
		return float64(*x)
	case *Power:
		return float64(*x)
	}
	return 0
}

func TestUnitsThatAreNone(t *testing.T) {
	for _, text := range []string{"", "312", "TFLOPS", "-1TFLOPS", "1e400TFLOPS", "1 TFLOP/s", "NaNTFLOPS"} {
		assert.ErrorContains(t, new(FLOPS).UnmarshalText([]byte(text)), "write something like", text)
	}
}

func TestNames(t *testing.T) {
	assert.Equal(t, "bf16 NT gemm cross_entropy", BF16.String()+" "+NT.String()+" "+GEMM.String()+" "+CrossEntropy.String())
	assert.Equal(t, "9", Dtype(9).String())
	var d Dtype
	require.NoError(t, d.UnmarshalText([]byte("fp8")))
	assert.Equal(t, FP8, d)
	assert.ErrorContains(t, d.UnmarshalText([]byte("int4")), "write one of")
}

func FuzzUnits(f *testing.F) {
	f.Add("312TFLOPS")
	f.Add("1410 MHz")
	f.Fuzz(func(t *testing.T, text string) {
		var x FLOPS
		if x.UnmarshalText([]byte(text)) != nil {
			return
		}
		var again FLOPS
		require.NoError(t, again.UnmarshalText([]byte(x.String())), "%q gives %q", text, x)
		assert.InDelta(t, float64(x), float64(again), float64(x)*1e-12)
	})
}
