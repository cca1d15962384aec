package model

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/gpu"
)

// TestRescale: FP8 shares its largest values once a chunk and direction, other
// formats never.
func TestRescale(t *testing.T) {
	count := func(p gpu.Dtype, layers int) (n int) {
		s := gpt(1, false)
		s.Precision = p
		c := s.Build(0, layers, false, false)
		for _, op := range append(c.Forward, c.Backward...) {
			if op.Kind == Communicate && op.Comm.Group == Amax {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 2, count(gpu.FP8, 1))
	assert.Equal(t, 2, count(gpu.FP8, 4))
	assert.Zero(t, count(gpu.BF16, 4))
}
