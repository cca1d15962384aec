package sim

import (
	"hash/fnv"
	"math/rand/v2"
)

// NewRand returns the random stream called name under a root seed. Streams of
// different names are independent, so a new consumer shifts nobody's draws.
func NewRand(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
