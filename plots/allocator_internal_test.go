package plots

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim/trace"
)

// One piece, or one segment, is not several.
func TestRibbonCountsItsPieces(t *testing.T) {
	one := newRibbon(&trace.Blocks{Segments: [][]trace.Block{{{Bytes: 2 << 30, Kind: "weights"}, {Bytes: 1 << 30}}}})
	assert.Contains(t, one.facts(), "3.0 GiB reserved in 1 segment ")
	assert.Contains(t, one.facts(), "1.0 GiB idle in one piece of 1.0 GiB")
	two := newRibbon(&trace.Blocks{Segments: [][]trace.Block{{{Bytes: 1 << 30}}, {{Bytes: 2 << 30}}}})
	assert.Contains(t, two.facts(), "in 2 segments")
	assert.Contains(t, two.facts(), "in 2 pieces, the largest 2.0 GiB")
}
