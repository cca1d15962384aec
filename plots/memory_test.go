package plots

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// The reserved line is lifted by what lies outside the allocator.
func TestReservedComparesWithCapacity(t *testing.T) {
	r, rep := synthetic{pp: 2, m: 2, tp: 1, forward: sim.Second}.build()
	m, err := memoryOf(r, rep)
	require.NoError(t, err)
	const gib = 1 << 30
	assert.Equal(t, float64(37*gib+2*5*gib), m.peak)
	assert.Equal(t, float64(39*gib+2*5*gib+gib), m.peakReserved)
	assert.Equal(t, float64(80*gib), m.capacity)
}
