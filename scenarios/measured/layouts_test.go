package measured

import (
	"cmp"
	"context"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

// Ten layouts of one 181B model on 384 A100 at one global batch rank as they did
// on the machine. The measured steps are BigScience's, one iteration each, from
// the prequel to the chronicles of its 176B training (bigscience-workshop/
// bigscience, train/tr11-176B-ml/chronicles-prequel.md). They span 110 to 134 s,
// and single ones scatter by 1 to 3 %.
func TestPublishedLayoutsRankAsMeasured(t *testing.T) {
	text, err := os.ReadFile("testdata/layouts-181b.csv")
	require.NoError(t, err)
	rows, err := Read(text, "layouts-181b.csv", Options{})
	require.NoError(t, err)
	require.NoError(t, Predict(context.Background(), rows, atOnce))
	measured, predicted := make([]float64, len(rows)), make([]float64, len(rows))
	for i := range rows {
		require.Empty(t, rows[i].Skipped)
		measured[i], predicted[i] = *rows[i].Measured, *rows[i].Predicted
	}
	m, p := ranks(measured), ranks(predicted)
	assert.Greater(t, stat.Correlation(m, p, nil), 0.75, "rank correlation of %v and %v", measured, predicted)
	for i := range m {
		assert.Equal(t, m[i] < 4, p[i] < 4, "%s: the four fastest are the four fastest", rows[i].ID)
	}
	assert.Less(t, predicted[slices.Index(m, 0)], 1.05*predicted[slices.Index(p, 0)],
		"the layout that was the fastest is within 5 % of the predicted one")
}

// ranks returns each value's place from 0 when they are ordered.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for rank, i := range order {
		out[i] = float64(rank)
	}
	return out
}
