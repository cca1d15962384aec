package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Rows of the text table: all of a short sweep, of a longer one the best.
const (
	maxSweepRows  = 60
	bestSweepRows = 20
)

// SweepSummary gathers what the text and the figure of a sweep need while its
// rows go by.
type SweepSummary struct {
	Points  int
	Counts  map[string]int // by outcome
	All     []SweepRow     // the first rows, as many as a figure draws
	Best    []SweepRow     // that run, least time a sample first
	Failing []SweepRow     // the first of each outcome that is not a run
}

// maxKept is how many rows a summary keeps for the figure.
const maxKept = 10000

// Summarize reads all rows once.
func (d *SweepDoc) Summarize() (*SweepSummary, error) {
	s := &SweepSummary{Counts: map[string]int{}}
	for row, err := range d.Rows {
		if err != nil {
			return nil, err
		}
		s.add(row)
	}
	return s, nil
}

func (s *SweepSummary) add(row SweepRow) {
	s.Points++
	if s.Counts[row.Outcome]++; s.Counts[row.Outcome] == 1 && row.Outcome != OutcomeOK {
		s.Failing = append(s.Failing, row)
	}
	if len(s.All) < maxKept {
		s.All = append(s.All, row)
	}
	if !row.Runs() {
		return
	}
	i, _ := slices.BinarySearchFunc(s.Best, row, func(a, b SweepRow) int {
		if a.SampleTime <= b.SampleTime {
			return -1
		}
		return 1
	})
	if i < bestSweepRows {
		s.Best = slices.Insert(s.Best, i, row)
		s.Best = s.Best[:min(len(s.Best), bestSweepRows)]
	}
}

// ComparesSamples reports whether the time of a sample is what a figure over
// the axis should compare: where global batches differ, and over the counts
// that cut the batch.
func (s *SweepSummary) ComparesSamples(axis string) bool {
	if key := shortKey(axis); key == "microbatches" || key == "chunks" || key == "microbatch_size" {
		return true
	}
	var samples int64
	for i := range s.All {
		if m := s.All[i].Metrics; m != nil {
			if samples != 0 && m.Samples != samples {
				return true
			}
			samples = m.Samples
		}
	}
	return false
}

// WriteText prints the table of a sweep and what stands out in it.
func (d *SweepDoc) WriteText(w io.Writer, s *SweepSummary) error {
	var b strings.Builder
	rows, title := s.All, fmt.Sprintf("%s: %d points\n\n", d.Scenario, s.Points)
	if s.Points > maxSweepRows {
		rows, title = s.Best, fmt.Sprintf("%s: the best %d of %d points, by time a sample\n\n", d.Scenario, len(s.Best), s.Points)
	}
	b.WriteString(title)
	table(&b, func(w io.Writer) {
		fmt.Fprint(w, "point\t")
		for _, a := range d.Axes {
			fmt.Fprintf(w, "%s\t", shortKey(a.Key))
		}
		fmt.Fprint(w, "outcome\tstep\ta sample\ttokens/s/GPU\tMFU %\tbubble %\tpeak GiB\tof GiB\t\n")
		for i := range rows {
			rows[i].writeLine(w)
		}
	})
	d.findings(&b, s)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeLine is the row in the text table.
func (r *SweepRow) writeLine(w io.Writer) {
	fmt.Fprintf(w, "%d\t", r.Point)
	for _, s := range r.Settings {
		fmt.Fprintf(w, "%s\t", s.Value)
	}
	fmt.Fprintf(w, "%s\t", r.Outcome)
	if m := r.Metrics; m != nil {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t", seconds(m.StepTime), seconds(m.SampleTime),
			m.TokensPerSPerGPU, 100*m.MFU, 100*m.Bubble, float64(m.PeakMemory)/(1<<30), float64(m.Capacity)/(1<<30))
	} else {
		fmt.Fprint(w, "-\t-\t-\t-\t-\t-\t-\t")
	}
	fmt.Fprintln(w)
}

// findings names the best point, the knee of each curve and why points do not
// run.
func (d *SweepDoc) findings(b *strings.Builder, s *SweepSummary) {
	b.WriteString("\n")
	if len(s.Best) > 0 {
		r := &s.Best[0]
		fmt.Fprintf(b, "Best: %s with %s a sample, a step of %s, %s of memory to spare\n",
			r.Settings.Label(), seconds(r.SampleTime), seconds(r.StepTime), gib(r.Headroom()))
	} else {
		b.WriteString("No point runs.\n")
	}
	d.knees(b, s)
	for i := range s.Failing {
		r := &s.Failing[i]
		fmt.Fprintf(b, "%s: %d of %d points, first point %d: %s\n", outcomeWords[r.Outcome], s.Counts[r.Outcome], s.Points, r.Point, r.Reason)
	}
}

// maxKnees is of how many curves the text names the knee.
const maxKnees = 6

// knees names the knees of the curves or, of many, of the best point's.
func (d *SweepDoc) knees(b *strings.Builder, s *SweepSummary) {
	axis := CurveAxis(d.Axes)
	curves := Curves(s.All, axis)
	for _, c := range curves {
		r := c.Knee()
		if r == nil || len(curves) > maxKnees && !slices.ContainsFunc(c.Rows, func(r SweepRow) bool { return r.Point == s.Best[0].Point }) {
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
	OutcomeOOM: "Out of memory", OutcomeInvalid: "Invalid", OutcomeDeadlock: "Deadlock", OutcomeFailed: "Failed",
}

// Knee returns the point at the curve's knee, nil if it has none. Only points
// that run count.
func (c *Curve) Knee() *SweepRow {
	var at []int
	var ys []float64
	for i := range c.Rows {
		if c.Rows[i].Runs() {
			at, ys = append(at, i), append(ys, c.Rows[i].SampleTime)
		}
	}
	i, ok := Knee(ys)
	if !ok {
		return nil
	}
	return &c.Rows[at[i]]
}
