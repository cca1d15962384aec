package plots

import "trainsim/sim/report"

// SweepChart is a sweep along one axis.
type SweepChart struct {
	Scenario string // its name; may be empty
	Axis     string // what X of the points is, "schedule.microbatches" for example
	Points   []SweepPoint
	Capacity float64 // of the GPUs' memory, bytes, drawn with it; 0 if unknown
}

// SweepPoint is one run of a sweep.
type SweepPoint struct {
	X      string // value of what varies along the axis, as written
	Series string // values of everything else that varies; may be empty
	// StepTime is in seconds, Bubble a share of the step, PeakMemory in bytes
	// as nvidia-smi shows it. What is not positive and finite is not drawn,
	// save a bubble of 0.
	StepTime, Bubble, PeakMemory float64
	// Samples is the global batch. Where all points have one, the time of a
	// sample is drawn in place of the step's, which is fair where batches differ.
	Samples float64
	Fits    bool // hollow marks for what does not fit
}

// SweepOf makes the chart of a finished sweep along the axis that it is drawn over.
func SweepOf(doc *report.SweepDoc, sum *report.SweepSummary) SweepChart {
	c := SweepChart{Scenario: doc.Scenario, Axis: report.CurveAxis(doc.Axes)}
	samples := sum.ComparesSamples(c.Axis)
	for _, curve := range report.Curves(sum.All, c.Axis) {
		for i := range curve.Rows {
			r := &curve.Rows[i]
			if r.Metrics == nil {
				continue
			}
			p := SweepPoint{X: r.Settings.Value(c.Axis), Series: curve.Series, Fits: r.Runs(),
				StepTime: r.StepTime, Bubble: r.Bubble, PeakMemory: float64(r.PeakMemory)}
			if samples {
				p.Samples = float64(r.Samples)
			}
			c.Capacity = max(c.Capacity, float64(r.Capacity))
			c.Points = append(c.Points, p)
		}
	}
	return c
}

// time is what the first panel shows.
func (p *SweepPoint) time(aSample bool) float64 {
	if aSample {
		return p.StepTime / p.Samples
	}
	return p.StepTime
}
