package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStreamsRepeat(t *testing.T) {
	a, b := NewRand(42, "gpu/3"), NewRand(42, "gpu/3")
	for range 100 {
		assert.Equal(t, a.Uint64(), b.Uint64())
	}
}

// Streams of neighbouring seeds, of seeds that differ in their top bit and of
// similar names agree in half of their bits, each bit within five sigma.
func TestStreamsAreIndependent(t *testing.T) {
	type key struct {
		seed uint64
		name string
	}
	const n = 20_000
	pairs := [][2]key{
		{{0, "gpu"}, {1, "gpu"}}, {{0, "gpu"}, {1 << 63, "gpu"}}, {{1, "gpu"}, {1 << 62, "gpu"}},
		{{0, "gpu/1"}, {0, "gpu/2"}}, {{0, "a"}, {0, "b"}},
	}
	for _, p := range pairs {
		a, b := NewRand(p[0].seed, p[0].name), NewRand(p[1].seed, p[1].name)
		var differ [64]int
		for range n {
			x := a.Uint64() ^ b.Uint64()
			for i := range differ {
				differ[i] += int(x >> i & 1)
			}
		}
		for i, d := range differ {
			assert.Less(t, math.Abs(float64(d)-n/2), 5*math.Sqrt(n/4), "%v bit %d", p, i)
		}
	}
}
