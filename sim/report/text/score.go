package text

import (
	"fmt"
	"io"
	"math"
	"strings"

	"trainsim/sim/report"
	"trainsim/sim/report/quantity"
)

// Score prints a line for each row, the summaries by family and one of
// everything.
func Score(w io.Writer, s *report.Score) error {
	var b strings.Builder
	rowTable(&b, s)
	familyTable(&b, s)
	skippedList(&b, s)
	doubtList(&b, s)
	_, err := io.WriteString(w, b.String())
	return err
}

// rowTable lists the rows, with columns for memory and outcome where some row
// has them.
func rowTable(b *strings.Builder, s *report.Score) {
	total := s.Total()
	times, memory, runs := total.N > 0, total.MemoryN > 0, total.OutcomeN > 0
	table(b, func(w io.Writer) {
		fmt.Fprint(w, "id\t")
		if times || !memory {
			fmt.Fprint(w, "measured\tpredicted\terror\t")
		}
		if memory {
			fmt.Fprint(w, "memory\tpredicted\terror\t")
		}
		if runs {
			fmt.Fprint(w, "outcome\t")
		}
		fmt.Fprintln(w)
		for i := range s.Rows {
			r := &s.Rows[i]
			fmt.Fprintf(w, "%s\t", r.ID)
			if times || !memory {
				fmt.Fprintf(w, "%s\t%s\t%s\t", secondsOf(r.Measured), secondsOf(r.Predicted), percentOf(r.TimeError))
			}
			if memory {
				fmt.Fprintf(w, "%s\t%s\t%s\t", bytesOf(r.MeasuredBytes), bytesOf(r.PredictedBytes),
					percentOf(r.MemoryError))
			}
			if runs {
				fmt.Fprintf(w, "%s\t", outcome(r))
			}
			fmt.Fprintln(w)
		}
	})
}

// outcome says in a word how the run ended, and how it was predicted to end
// where that differs.
func outcome(s *report.Scored) string {
	switch {
	case s.Skipped != "":
		return "skipped"
	case s.OutcomeMeasured == s.OutcomePredicted || s.OutcomePredicted == "":
		return s.OutcomeMeasured
	}
	return s.OutcomeMeasured + ", predicted " + s.OutcomePredicted
}

// ScoreSummary returns the errors by family, as Score prints them.
func ScoreSummary(s *report.Score) string {
	var b strings.Builder
	familyRows(&b, s)
	return b.String()
}

func familyTable(b *strings.Builder, s *report.Score) {
	b.WriteString("\nErrors by family: mean of the absolute errors, bias, median, 90th percentile, worst\n")
	familyRows(b, s)
}

func familyRows(b *strings.Builder, s *report.Score) {
	families, total := s.Families, s.Total()
	memory, runs := total.MemoryN > 0, total.OutcomeN > 0
	times := total.N > 0 || !memory
	if len(families) > 1 {
		families = append(families[:len(families):len(families)], total)
	}
	table(b, func(w io.Writer) {
		fmt.Fprint(w, "family\t")
		if times {
			fmt.Fprint(w, "n\tmean\tbias\tmedian\tp90\tworst\t")
		}
		if memory || runs {
			fmt.Fprint(w, "memory n\tmean\tworst\t")
		}
		if runs {
			fmt.Fprint(w, "outcome right\t")
		}
		fmt.Fprintln(w, "skipped\t")
		for _, f := range families {
			fmt.Fprintf(w, "%s\t", f.Family)
			if times {
				fmt.Fprintf(w, "%d\t%s\t", f.N, timeText(&f))
			}
			if memory || runs {
				fmt.Fprintf(w, "%s\t", memoryText(&f))
			}
			if runs {
				fmt.Fprintf(w, "%s\t", outcomeText(&f))
			}
			fmt.Fprintf(w, "%d\t\n", f.Skipped)
		}
	})
}

func timeText(f *report.Family) string {
	if f.N == 0 {
		return "\t\t\t\t"
	}
	return fmt.Sprintf("%.1f %%\t%+.1f %%\t%.1f %%\t%.1f %%\t%.1f %%", 100*f.MAPE, 100*f.Bias, 100*f.Median, 100*f.P90,
		100*f.Worst)
}

func memoryText(f *report.Family) string {
	if f.MemoryN == 0 {
		return "0\t\t"
	}
	return fmt.Sprintf("%d\t%.1f %%\t%.1f %%", f.MemoryN, 100*f.MemoryMAPE, 100*f.MemoryWorst)
}

func outcomeText(f *report.Family) string {
	if f.OutcomeN == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", f.OutcomeRight, f.OutcomeN)
}

func skippedList(b *strings.Builder, s *report.Score) {
	if list := Skipped(s); list != "" {
		fmt.Fprintf(b, "\nSkipped; each counts as an error of -100 %%\n%s\n", list)
	}
}

// maxSkipped is how many reasons the list of skipped rows shows.
const maxSkipped = 20

// Skipped lists the rows that could not be predicted with the reasons, a line
// each; "" where there are none.
func Skipped(s *report.Score) string {
	var lines []string
	n := 0
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Skipped == "" {
			continue
		}
		if n++; n <= maxSkipped {
			lines = append(lines, "  "+reason(r))
		}
	}
	if n > maxSkipped {
		lines = append(lines, fmt.Sprintf("  ... and %d more (--json has all)", n-maxSkipped))
	}
	return strings.Join(lines, "\n")
}

// reason says which row is skipped, and why; a reason that begins with the row's
// place is enough.
func reason(s *report.Scored) string {
	place, _, _ := strings.Cut(s.Skipped, ": ")
	row, _, _ := strings.Cut(s.ID, " ")
	if strings.Contains(place, row+":") {
		return s.Skipped
	}
	return s.ID + ": " + s.Skipped
}

func doubtList(b *strings.Builder, s *report.Score) {
	if len(s.Doubts) > 0 {
		fmt.Fprintf(b, "\nColumns in doubt\n  %s\n", strings.Join(s.Doubts, "\n  "))
	}
}

func secondsOf(x *float64) string {
	if x == nil {
		return "-"
	}
	return quantity.Seconds(*x)
}

func percentOf(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", math.Round(1000**x)/10)
}

func bytesOf(x *int64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f GiB", float64(*x)/(1<<30))
}
