package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// NewRand returns the random stream called name under a root seed. Streams of
// different names or seeds are independent, so a new consumer shifts nobody's
// draws and replications may count their seeds up from 0. Both are hashed into
// the generator's state: PCG streams whose states differ in their top bits
// alone are correlated.
func NewRand(seed uint64, name string) *rand.Rand {
	h := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, seed), name...))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:])))
}
