package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUsage compares the sums with the statistics, and what it calls
// releasable with what emptying the cache gives back.
func TestUsage(t *testing.T) {
	for seed, conf := range workloadConfs {
		w := newWorkload(t, uint64(seed), conf, false)
		w.alone = true
		for range 300 {
			w.step()
		}
		u := UsageOf(w.a.Segments())
		require.Equal(t, w.a.Allocated(), u.Allocated)
		require.Equal(t, w.a.Reserved(), u.Reserved)
		require.LessOrEqual(t, u.Score, 1.0)
		w.a.EmptyCache()
		require.Equal(t, u.Reserved-u.Releasable, w.a.Reserved(), conf)
		require.Zero(t, UsageOf(w.a.Segments()).Releasable)
	}
	require.Equal(t, 0.0, Usage{}.Fragmentation())
	require.Equal(t, 0.75, Usage{Reserved: 4, Allocated: 1}.Fragmentation())
}

// TestScoreOfOneIdleSegment: half of the reserve in one piece scores 1/4.
func TestScoreOfOneIdleSegment(t *testing.T) {
	a := New(Config{Capacity: 1 << 30})
	r, err := a.Malloc(20<<20, 0, Weights)
	require.NoError(t, err)
	_, err = a.Malloc(20<<20, 0, Weights)
	require.NoError(t, err)
	a.Free(r)
	u := UsageOf(a.Segments())
	require.Equal(t, 0.25, u.Score)
	require.Equal(t, 0.5, u.Fragmentation())
	require.EqualValues(t, 20<<20, u.Releasable)
	require.EqualValues(t, 20<<20, u.LargestIdle)
}
