package draw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoundStep(t *testing.T) {
	for x, want := range map[float64]float64{1: 1, 1.5: 2, 3: 5, 7: 10, 0.03: 0.05, 120: 200} {
		require.InEpsilon(t, want, roundStep(x), 1e-12)
	}
}
