package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
)

// A kernel bound by memory has what the traffic beside it leaves of the
// bandwidth that the best kernels reach, and at least a half; one that leaves
// room when alone loses nothing until that is used up; a product that is bound by
// arithmetic loses nothing at all.
func TestMemoryIsShared(t *testing.T) {
	for _, d := range presets(t) {
		const bytes = 1 << 30
		all := float64(d.MemoryBandwidth) * d.Streaming.best()
		seconds := func(c Class, beside float64) float64 {
			k := Kernel{Kind: Memory, Class: c, ReadBytes: bytes / 2, WriteBytes: bytes / 2}
			fixed := d.Streaming.Latency + d.LaunchGap
			return (d.TimeBeside(&k, Beside{Traffic: sim.Bandwidth(beside)}) - fixed).Seconds()
		}
		for class := range NumClasses {
			own := float64(d.MemoryBandwidth) * d.Streaming.of(class)
			for _, part := range []float64{0, 0.05, 0.3, 0.5, 0.7, 2} {
				rate := min(own, max(all*(1-part), all/2))
				assert.InEpsilon(t, bytes/rate, seconds(class, part*all), 1e-6, "%s %v beside %g", d.Name, class, part)
			}
		}
		product := Kernel{Kind: GEMM, M: 8192, N: 8192, K: 8192, In: FP16, Out: FP16}
		if d.Peak(FP16) > 0 {
			assert.Equal(t, d.Time(&product), d.TimeBeside(&product, Beside{Traffic: sim.Bandwidth(all / 3)}), d.Name)
		}
	}
}
