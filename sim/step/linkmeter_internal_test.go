package step

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
)

// The bins hold what a link carried up to the last instant of a run, whatever
// their width has become.
func TestMeterReachesTheHorizon(t *testing.T) {
	for _, end := range []sim.Time{1, sim.Microsecond, 1 << 62, sim.Horizon} {
		lm := newLinkMeter(1)
		lm.change(0, 0, 1e6)
		lm.change(end/3, 0, 2e6)
		lm.change(end, 0, 0)
		want := 1e6*(end/3).Seconds() + 2e6*(end-end/3).Seconds()
		sum := 0.0
		for _, b := range lm.bins[0] {
			sum += b
		}
		assert.InEpsilon(t, want, sum, 1e-9, "%v", end)
	}
}
