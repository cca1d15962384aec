package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
)

// Products that are launched one by one take the time of one each, and what
// their launches and cold operands add.
func TestProductsLaunchedOneByOne(t *testing.T) {
	for _, d := range presets(t) {
		warm := *d
		warm.GEMM.ColdOperands, warm.GEMM.Apart, warm.Power.FullClock, warm.Power.Sustained = 0, 0, 1, 0
		one := Kernel{Kind: GEMM, Batch: 1, M: 256, N: 7168, K: 2048, In: FP16, Out: FP16}
		many := one
		many.Batch, many.Launches = 64, 64
		assert.InDelta(t, 64*warm.Time(&one).Seconds(), warm.Time(&many).Seconds(), 1e-9, d.Name)

		cold := warm
		cold.GEMM.ColdOperands, cold.GEMM.Apart = 0.5, sim.Microsecond
		bytes := float64(2 * (256*2048 + 7168*2048 + 256*7168))
		extra := 64 * (1e-6 + 0.5*bytes/(float64(d.MemoryBandwidth)*d.GEMM.Bandwidth))
		assert.InDelta(t, extra, (cold.Time(&many) - warm.Time(&many)).Seconds(), 1e-9, d.Name)
		assert.Equal(t, warm.Time(&one), cold.Time(&one), d.Name)
	}
}
