package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTicks(t *testing.T) {
	for _, max := range []float64{1e-12, 3.3e-7, 0.02, 1, 7.95, 1234, 1e12} {
		ticks := LinearTicks(max, TimeUnit(max), 10)
		assert.True(t, len(ticks) >= 5 && len(ticks) <= 21, "%g: %d ticks", max, len(ticks))
		assert.Equal(t, 0.0, ticks[0].Value)
		labels := map[string]bool{}
		for _, tick := range ticks {
			assert.LessOrEqual(t, tick.Value, max*(1+1e-9))
			assert.False(t, labels[tick.Label], tick.Label)
			labels[tick.Label] = true
		}
	}
	assert.Equal(t, "0", LinearTicks(0, TimeUnits[0], 5)[0].Label)
	assert.Equal(t, "1.02 s", Seconds(1.02))
	assert.Equal(t, "30.0 ms", Seconds(0.03))
	assert.Equal(t, "0 s", Seconds(0))
	assert.Equal(t, "79.6 GiB", Gibibytes(79.6*(1<<30)))
	assert.Equal(t, "5.0 MiB", Gibibytes(5<<20))
	assert.NotEmpty(t, LogTicks(1e-9, 1e9))
}
