package job

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// Every rank of a stage is in one group that trades tokens and in one that
// shares experts; two groups of the two kinds have one rank in common.
func TestExpertCoordinates(t *testing.T) {
	for seed := range uint64(200) {
		r := sim.NewRand(seed, "coordinates")
		pick := func(xs ...int) int { return xs[r.IntN(len(xs))] }
		p := Parallel{TP: pick(1, 2, 4), CP: pick(1, 2), DP: pick(1, 2, 3, 8), PP: pick(1, 3), EP: pick(1, 2, 4)}
		p.ETP = pick(1, p.TP)
		perStage := p.TP * p.CP * p.DP
		if perStage%(p.ETP*p.EP) != 0 {
			continue
		}
		seen := map[expertCoord]bool{}
		for rank := range perStage {
			at := p.expertCoord(rank)
			require.Equal(t, at, p.expertCoord(rank+perStage*(p.PP-1)), "every pipeline rank alike")
			require.False(t, seen[at])
			seen[at] = true
			assert.Less(t, at.TP, p.ETP)
			assert.Less(t, at.EP, p.EP)
			if p.ETP == p.TP {
				assert.Equal(t, p.Coord(rank).TP, at.TP, "ranks that cut experts are those that cut the rest")
			}
		}
	}
}
