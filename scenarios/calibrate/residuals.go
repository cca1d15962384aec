package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"trainsim/scenarios/measured"
	"trainsim/sim/gpu"
)

// operationScore summarises the relative errors (predicted - measured) / measured of the
// measurements of one operation.
type operationScore struct {
	Operation string
	N         int
	Mean      float64 // of the absolute errors
	Bias      float64 // mean of the errors with their sign
	Median    float64 // of the absolute errors
	P90       float64 // their 90th percentile
	Worst     float64
}

// residuals are a fit's scores, an operation each, in the order of their names.
type residuals []operationScore

// newResiduals scores the device on the measurements.
func newResiduals(ms []*measured.KernelTime, d *gpu.Device) residuals {
	errors := map[string][]float64{}
	var names []string
	for _, m := range ms {
		if _, seen := errors[m.Operation]; !seen {
			names = append(names, m.Operation)
		}
		errors[m.Operation] = append(errors[m.Operation], m.Error(d))
	}
	slices.Sort(names)
	var r residuals
	for _, n := range names {
		r = append(r, newScore(n, errors[n]))
	}
	return r
}

func newScore(operation string, errors []float64) operationScore {
	s := operationScore{Operation: operation, N: len(errors)}
	sizes := make([]float64, len(errors))
	for i, e := range errors {
		sizes[i] = math.Abs(e)
		s.Mean += sizes[i] / float64(s.N)
		s.Bias += e / float64(s.N)
	}
	slices.Sort(sizes)
	s.Median = (sizes[(s.N-1)/2] + sizes[s.N/2]) / 2
	s.P90, s.Worst = sizes[s.N*9/10], sizes[s.N-1]
	return s
}

// String writes a table, a line an operation, errors in per cent.
func (r residuals) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %5s %7s %7s %7s %7s %7s\n", "operation", "n", "mean", "bias", "median", "p90", "worst")
	for _, s := range r {
		fmt.Fprintf(&b, "%-26s %5d %6.1f%% %+6.1f%% %6.1f%% %6.1f%% %6.1f%%\n",
			s.Operation, s.N, 100*s.Mean, 100*s.Bias, 100*s.Median, 100*s.P90, 100*s.Worst)
	}
	return b.String()
}
