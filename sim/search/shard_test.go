package search

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The parts of a split have every point once.
func TestShardsCoverAllPoints(t *testing.T) {
	for n := range 40 {
		for of := 1; of <= 9; of++ {
			sum := 0
			for i := range of {
				sum += Shard{i, of}.Count(n)
			}
			assert.Equal(t, n, sum, "%d points in %d shards", n, of)
		}
	}
}

func TestParseShard(t *testing.T) {
	for _, text := range []string{"0/1", "3/7"} {
		s, err := ParseShard(text)
		require.NoError(t, err)
		assert.Equal(t, text, s.String())
		assert.Equal(t, text == "0/1", s.Whole())
	}
	for _, text := range []string{"", "1", "-1/2", "2/2", "0/0", "1/2/3", "x/2"} {
		_, err := ParseShard(text)
		assert.ErrorContains(t, err, "write I/N", text)
	}
	assert.True(t, Shard{}.Whole())
	assert.Equal(t, 5, Shard{}.Count(5))
}
