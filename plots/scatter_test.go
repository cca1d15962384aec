package plots

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Of an even number of errors the median is the mean of the two middle ones, as
// in the tables.
func TestScatterStatesTheMedian(t *testing.T) {
	points := []Point{{Measured: 1, Predicted: 1.01}, {Measured: 1, Predicted: 0.96}}
	assert.Contains(t, newScatter(points, "time").facts(2), "median error 2.5 %")
}
