package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"trainsim/sim/report"
	"trainsim/sim/report/quantity"
)

// maxSweepRows is how many rows the text table shows: all of a short sweep, of a
// longer one the best.
const maxSweepRows = 60

// Sweep prints the table of a sweep and what stands out in it.
func Sweep(w io.Writer, d *report.SweepDoc, s *report.SweepSummary) error {
	var b strings.Builder
	rows, title := s.All, fmt.Sprintf("%s: %d points\n\n", d.Scenario, s.Points)
	if s.Points > maxSweepRows {
		rows, title = s.Best, fmt.Sprintf("%s: the best %d of %d points, by time a sample\n\n", d.Scenario,
			len(s.Best), s.Points)
	}
	b.WriteString(title)
	table(&b, func(w io.Writer) {
		fmt.Fprint(w, "point\t")
		for _, a := range d.Axes {
			fmt.Fprintf(w, "%s\t", report.ShortKey(a.Key))
		}
		fmt.Fprint(w, "outcome\tstep\ta sample\ttokens/s/GPU\tMFU %\tbubble %\tpeak GiB\tof GiB\t\n")
		for i := range rows {
			writeRow(w, &rows[i])
		}
	})
	findings(&b, d, s)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeRow is the row in the text table.
func writeRow(w io.Writer, r *report.SweepRow) {
	fmt.Fprintf(w, "%d\t", r.Point)
	for _, s := range r.Settings {
		fmt.Fprintf(w, "%s\t", s.Value)
	}
	fmt.Fprintf(w, "%s\t", r.Outcome)
	if m := r.Metrics; m != nil {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t", quantity.Seconds(m.StepTime),
			quantity.Seconds(m.SampleTime),
			m.TokensPerSPerGPU, 100*m.MFU, 100*m.Bubble, float64(m.PeakMemory)/(1<<30), float64(m.Capacity)/(1<<30))
	} else {
		fmt.Fprint(w, "-\t-\t-\t-\t-\t-\t-\t")
	}
	fmt.Fprintln(w)
}

// findings names the best point, the knee of each curve and why points do not
// run.
func findings(b *strings.Builder, d *report.SweepDoc, s *report.SweepSummary) {
	b.WriteString("\n")
	if len(s.Best) > 0 {
		r := &s.Best[0]
		fmt.Fprintf(b, "Best: %s with %s a sample, a step of %s, %s of memory to spare\n",
			r.Settings.Label(), quantity.Seconds(r.SampleTime), quantity.Seconds(r.StepTime),
			quantity.GiB(r.Headroom()))
	} else {
		b.WriteString("No point runs.\n")
	}
	knees(b, d, s)
	for i := range s.Failing {
		r := &s.Failing[i]
		fmt.Fprintf(b, "%s: %d of %d points, first point %d: %s\n", outcomeWords[r.Outcome], s.Counts[r.Outcome],
			s.Points, r.Point, r.Reason)
	}
}

// maxKnees is of how many curves the text names the knee.
const maxKnees = 6

// knees names the knees of the curves or, of many, of the best point's.
func knees(b *strings.Builder, d *report.SweepDoc, s *report.SweepSummary) {
	axis := report.CurveAxis(d.Axes)
	curves := report.Curves(s.All, axis)
	for _, c := range curves {
		r := c.Knee()
		if r == nil || len(curves) > maxKnees &&
			!slices.ContainsFunc(c.Rows, func(r report.SweepRow) bool { return r.Point == s.Best[0].Point }) {
			continue
		}
		label := ""
		if c.Series != "" {
			label = " (" + c.Series + ")"
		}
		fmt.Fprintf(b, "Knee%s: %s=%s; more gains less than 5 %% a sample\n", label, axis, r.Settings.Value(axis))
	}
}

var outcomeWords = map[string]string{
	report.OutcomeOOM: "Out of memory", report.OutcomeInvalid: "Invalid",
	report.OutcomeDeadlock: "Deadlock", report.OutcomeFailed: "Failed",
}
