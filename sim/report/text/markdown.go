package text

import (
	"fmt"
	"io"
	"strings"

	"trainsim/sim/report"
	"trainsim/sim/report/quantity"
)

// MarkdownOptions say what a review knows beside the report itself.
type MarkdownOptions struct {
	Options
	Description string
	Figures     []MarkdownFigure
	// Scenario and Report are the files of the resolved scenario and of the JSON
	// report beside the text.
	Scenario, Report string
}

// MarkdownFigure is a figure beside the text; Also are the same in other formats.
type MarkdownFigure struct {
	File, Caption string
	Also          []string
}

// Markdown renders the report as the README.md of a folder for a design
// review: what it comes to, the figures, what to change, and all tables.
func Markdown(w io.Writer, r *report.Report, o MarkdownOptions) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", o.Title)
	if o.Description != "" {
		fmt.Fprintf(&b, "%s\n\n", o.Description)
	}
	fmt.Fprintf(&b, "%s\n\n", o.Headline)
	markdownVerdict(&b, r)
	markdownSummary(&b, r)
	for _, f := range o.Figures {
		mark := "!" // a page shows pictures, not PDFs
		if strings.HasSuffix(f.File, ".pdf") {
			mark = ""
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s[%s](%s)\n", f.Caption, mark, f.Caption, f.File)
		for _, also := range f.Also {
			fmt.Fprintf(&b, "\n[%s](%s)\n", also, also)
		}
	}
	b.WriteString("\n## All figures of the run\n\n```\n")
	o.Verbose = true
	if err := Report(&b, r, o.Options); err != nil {
		return err
	}
	fmt.Fprintf(&b, "```\n\n## How to repeat it\n\ntrainsim %s\n\n```\ntrainsim run %s\n```\n\n",
		r.Version, o.Scenario)
	fmt.Fprintf(&b, "[%s](%s) has every default written out; [%s](%s) is the report for programs.\n", o.Scenario,
		o.Scenario, o.Report, o.Report)
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownVerdict says whether the job runs, and what to change.
func markdownVerdict(b *strings.Builder, r *report.Report) {
	switch {
	case r.Deadlock != nil:
		fmt.Fprintf(b, "**It does not run:** %s\n\n", strings.ReplaceAll(*r.Deadlock, "\n", "  \n"))
	case r.OOM != nil:
		fmt.Fprintf(b, "**It does not fit:** rank %d (stage %d) needs %s, in %s.\n\n", r.OOM.Rank, r.OOM.Stage,
			r.OOM.Needs(), r.OOM.Action)
	default:
		b.WriteString("**It runs and fits.**\n\n")
	}
	for _, a := range r.Advice {
		fmt.Fprintf(b, "- %s: %s\n", a.Severity, a.Text)
	}
	if len(r.Advice) > 0 {
		b.WriteString("\n")
	}
}

func markdownSummary(b *strings.Builder, r *report.Report) {
	peak := r.Peak()
	b.WriteString("| | |\n|---|---|\n")
	for _, row := range [][2]string{
		{"step", fmt.Sprintf("%s for %.0f samples", quantity.Seconds(r.StepTime), r.Samples())},
		{"a sample", quantity.Seconds(r.StepTime / max(r.Samples(), 1))},
		{"throughput", fmt.Sprintf("%.0f tokens/s, %.1f tokens/s/GPU", r.TokensPerS, r.TokensPerSPerGPU)},
		{"utilisation", fmt.Sprintf("%.1f model TFLOP/s/GPU, MFU %.1f %%, HFU %.1f %%", r.ModelTFLOPS, 100*r.MFU,
			100*r.HFU)},
		{"pipeline bubble", fmt.Sprintf("%.1f %% of the step", 100*r.Bubble.OverTotal)},
		{"peak memory", fmt.Sprintf("%s of %s (stage %d)", quantity.GiB(peak.NvidiaSMI), quantity.GiB(peak.Capacity),
			peak.Stage)},
	} {
		fmt.Fprintf(b, "| %s | %s |\n", row[0], row[1])
	}
}
