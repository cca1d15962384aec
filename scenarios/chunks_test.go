package scenarios_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim"
	"trainsim/sim/step"
)

// The often-quoted "about 15 %" for four stages and eight micro-batches is true
// of two interleaved virtual stages, 3/19, and not of GPipe and 1F1B, 3/11.
func TestFourStagesEightChunks(t *testing.T) {
	for name, want := range map[string]float64{"gpipe": 3.0 / 11, "1f1b": 3.0 / 11, "interleaved": 3.0 / 19} {
		cfg, err := scenarios.Load("pp4-chunks-8-" + name)
		require.NoError(t, err)
		res, err := step.Run(context.Background(), cfg, step.Options{})
		require.NoError(t, err)
		first, last, busy := sim.Forever, sim.Time(0), sim.Time(0)
		for _, s := range res.Stages {
			first, last, busy = min(first, s.First), max(last, s.Last), busy+s.Busy
		}
		makespan := (last - first).Seconds()
		assert.InDelta(t, want, 1-busy.Seconds()/4/makespan, 1e-9, name)
	}
}
