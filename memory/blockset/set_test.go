package blockset

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// TestSetAgainstSortedSlice compares the set with a sorted slice over
// random insertions, removals and searches.
func TestSetAgainstSortedSlice(t *testing.T) {
	for seed := range uint64(8) {
		r := sim.NewRand(seed, "freeset")
		var s Set
		var oracle []entry
		for i := range 4000 {
			if target := 40 << (seed % 5); len(oracle) == 0 || r.IntN(2*target) > len(oracle) {
				e := entry{int64(r.IntN(60)) * 512, int64(i) * 512, int32(i)}
				s.Insert(e.size, e.addr, e.block)
				oracle = append(oracle, e)
				slices.SortFunc(oracle, compareEntries)
			} else {
				k := r.IntN(len(oracle))
				s.Remove(oracle[k].size, oracle[k].addr)
				oracle = slices.Delete(oracle, k, k+1)
			}
			require.Equal(t, len(oracle), s.Len())
			size, addr := int64(r.IntN(62))*512, int64(r.IntN(i+1))*512
			k, _ := slices.BinarySearchFunc(oracle, entry{size, addr, 0}, compareEntries)
			p := s.LowerBound(size, addr)
			require.Equal(t, k < len(oracle), s.Valid(p))
			if k < len(oracle) {
				require.Equal(t, oracle[k].block, s.At(p))
			}
			if before, ok := s.Prev(p); ok {
				require.Equal(t, oracle[k-1].block, s.At(before))
				require.Equal(t, p, s.Next(before))
			} else {
				require.Zero(t, k)
			}
		}
		var want []int32
		for _, e := range oracle {
			want = append(want, e.block)
		}
		require.Equal(t, want, s.Append(nil))
	}
}

func compareEntries(x, y entry) int {
	return cmp.Or(cmp.Compare(x.size, y.size), cmp.Compare(x.addr, y.addr))
}
