package gpu

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
)

func TestTheSlowestOfManyCards(t *testing.T) {
	d := Device{Variation: 0.01}
	assert.Equal(t, 1.0, d.SlowestOf(1))
	assert.Equal(t, 1.0, (&Device{}).SlowestOf(1000))
	// Expected largest of n standard normal values (Harter 1961, Biometrika 48): 1.42360 of 8, 2.50759 of 100.
	assert.InDelta(t, 1.0142360, d.SlowestOf(8), 2e-4)
	assert.InDelta(t, 1.0250759, d.SlowestOf(100), 2e-4)
	for n := 2; n < 1<<16; n *= 2 {
		assert.Greater(t, d.SlowestOf(2*n), d.SlowestOf(n))
	}
}

func TestTheSlowestOfDrawnCards(t *testing.T) {
	const cards, draws = 32, 4000
	r := sim.NewRand(1, "gpu/variation")
	sum := 0.0
	for range draws {
		worst := math.Inf(-1)
		for range cards {
			worst = max(worst, r.NormFloat64())
		}
		sum += worst
	}
	d := Device{Variation: 0.02}
	assert.InDelta(t, 1+0.02*sum/draws, d.SlowestOf(cards), 0.02*0.02)
}

func TestOnlyComputingSlowsDown(t *testing.T) {
	for kind, want := range map[Kind]float64{GEMM: 1.03, Attention: 1.03, Memory: 1} {
		k := Kernel{Kind: kind}
		assert.Equal(t, want, k.Pace(1.03))
	}
}
