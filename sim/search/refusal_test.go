package search

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/model"
)

// Layouts that the model cannot be cut by are left out, and it is said why.
func TestLayoutsAreRefusedWithAReason(t *testing.T) {
	s := planSpace(t, "70b-tp4-pp2")
	fused := s.Layouts()
	s.Base.Model.Attention = model.Unfused
	layouts, refused := s.enumerate()
	require.Len(t, refused, 1)
	assert.Equal(t, "model.attention", refused[0].Problem.Key)
	assert.Contains(t, refused[0].Problem.Text, "write attention = \"flash\"")
	for _, l := range layouts {
		assert.Equal(t, 1, l.CP)
	}
	cut := 0
	for _, l := range fused {
		if l.CP > 1 {
			cut++
		}
	}
	assert.Positive(t, cut)
	assert.Greater(t, refused[0].Layouts, cut, "selective recomputation is to choose from, too")
}
