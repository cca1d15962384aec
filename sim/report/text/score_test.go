package text_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
	"trainsim/sim/report/text"
)

// A reason that begins with the row's place does not name it twice.
func TestSkippedRowsAreNamedOnce(t *testing.T) {
	s := report.NewScore([]report.Scored{
		{ID: "v.csv:2", Family: "a", Skipped: "dir/v.csv:2:40: time_us: is empty"},
		{ID: "v.csv:3", Family: "a", Skipped: "cluster: nics: 2 nodes need network cards"},
		{ID: "v.csv:30 reserved", Family: "a", Skipped: "v.csv:30:1: seq: is empty"},
	})
	var b strings.Builder
	require.NoError(t, text.Score(&b, s))
	assert.Contains(t, b.String(), "\n  dir/v.csv:2:40: time_us: is empty\n  v.csv:3: cluster: nics: 2 nodes need network cards\n  v.csv:30:1: seq: is empty\n")
}

func TestLongListsOfSkippedRowsEnd(t *testing.T) {
	rows := make([]report.Scored, 30)
	for i := range rows {
		rows[i] = report.Scored{ID: fmt.Sprint("r-", i), Family: "r", Skipped: "why"}
	}
	var b strings.Builder
	require.NoError(t, text.Score(&b, report.NewScore(rows)))
	assert.Contains(t, b.String(), "... and 10 more")
	assert.Equal(t, 20, strings.Count(b.String(), ": why"))
}

func ExampleScore() {
	measured, predicted := 2.0, 2.1
	s := report.NewScore([]report.Scored{{ID: "run-1", Family: "run", Measured: &measured, Predicted: &predicted}})
	if err := text.Score(os.Stdout, s); err != nil {
		panic(err)
	}
	// Output:
	//      id  measured  predicted   error
	//   run-1   2.000 s    2.100 s  +5.0 %
	//
	// Errors by family: mean of the absolute errors, bias, median, 90th percentile, worst
	//   family  n   mean    bias  median    p90  worst  skipped
	//      run  1  5.0 %  +5.0 %   5.0 %  5.0 %  5.0 %        0
}
