package text

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"trainsim/sim/report"
	"trainsim/sim/report/quantity"
)

// Options say what the text report knows beside the report itself.
type Options struct {
	Title string // the scenario's name
	// Headline describes the job in one line, as in "64 x h100: TP4 PP2 DP8".
	Headline string
	Verbose  bool // every stage, link and collective
}

// maxRows is how many stages a table shows without Verbose.
const maxRows = 16

// Report renders the report for people.
func Report(w io.Writer, r *report.Report, o Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", o.Title, o.Headline)
	summary(&b, r)
	stageTable(&b, r, o)
	causeLine(&b, r)
	memoryTable(&b, r.MemoryPerStage, o)
	commTable(&b, r)
	verdict(&b, r)
	b.WriteString("\nAssumptions\n")
	for _, a := range r.Assumptions {
		fmt.Fprintf(&b, "  - %s\n", a)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table aligns tab-separated rows written by f.
func table(b *strings.Builder, f func(w io.Writer)) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	f(t)
	t.Flush() //nolint:errcheck // a strings.Builder does not fail
}

// summary says what the step comes to.
func summary(b *strings.Builder, r *report.Report) {
	samples := r.SamplesPerS * r.StepTime
	tokens := r.TokensPerS * r.StepTime
	fmt.Fprintf(b, "Step        %s for %.0f samples, %.0f tokens\n", quantity.Seconds(r.StepTime), samples, tokens)
	fmt.Fprintf(b, "A sample    %s   a token %s   (compare layouts at equal global batch only)\n",
		quantity.Seconds(r.StepTime/max(samples, 1)), quantity.Seconds(r.StepTime/max(tokens, 1)))
	fmt.Fprintf(b, "Throughput  %.1f tokens/s, %.1f tokens/s/GPU, %.3f samples/s\n", r.TokensPerS, r.TokensPerSPerGPU,
		r.SamplesPerS)
	fmt.Fprintf(b, "Compute     %.1f model TFLOP/s/GPU (MFU %.1f %%), %.1f hardware TFLOP/s/GPU (HFU %.1f %%)\n",
		r.ModelTFLOPS, 100*r.MFU, r.HardwareTFLOPS, 100*r.HFU)
	phaseLines(b, r)
	fmt.Fprintf(b, "Bubble      %.1f %% of the step, %.1f %% of the step without it (mean over stages, %s)\n",
		100*r.Bubble.OverTotal, 100*r.Bubble.OverIdeal, quantity.Seconds(r.Bubble.Seconds))
	if f := r.Faults; f != nil {
		fmt.Fprintf(b, "Faults      cost %s: the step takes %s without them\n", quantity.Seconds(f.Cost),
			quantity.Seconds(f.HealthyStep))
	}
}

// phaseLines says what a run has beside one step.
func phaseLines(b *strings.Builder, r *report.Report) {
	if s := r.Steps; s != nil {
		fmt.Fprintf(b, "Steps       %d of different lengths: %s to %s; all figures are means over them\n", s.Count,
			quantity.Seconds(s.Min), quantity.Seconds(s.Max))
	}
	if r.Padding > 0 {
		fmt.Fprintf(b, "Padding     %.1f %% of the tokens that are computed; throughput counts the others\n",
			100*r.Padding)
	}
	if e := r.Evaluation; e != nil {
		fmt.Fprintf(b, "Evaluation  %s behind the step, %d x %d sequences a replica, forward only\n",
			quantity.Seconds(e.Seconds), e.Batches, e.BatchSize)
	}
}

// stageTable says where every stage's step goes. Columns that are zero on all
// stages are left out.
func stageTable(b *strings.Builder, r *report.Report, o Options) {
	var shown []report.StagePart
	for _, p := range report.StageParts {
		if slices.ContainsFunc(r.TimePerStage, func(t report.StageTime) bool { return *p.Of(&t) > 0 }) {
			shown = append(shown, p)
		}
	}
	b.WriteString("\nTime of each stage, ms (communication: exposed only; a row adds up to the step)\n")
	table(b, func(w io.Writer) {
		fmt.Fprint(w, "stage\t")
		for _, p := range shown {
			fmt.Fprintf(w, "%s\t", column(p))
		}
		fmt.Fprintln(w, "step\t")
		for i := range r.TimePerStage {
			t := &r.TimePerStage[i]
			if i >= maxRows && !o.Verbose {
				break
			}
			fmt.Fprintf(w, "%d\t", t.Stage)
			for _, p := range shown {
				fmt.Fprintf(w, "%.2f\t", 1e3**p.Of(t))
			}
			fmt.Fprintf(w, "%.2f\t\n", 1e3*t.Step)
		}
	})
	more(b, len(r.TimePerStage), o)
}

// column heads the part's column: its key in words, "tp comm".
func column(p report.StagePart) string {
	return strings.ReplaceAll(strings.TrimSuffix(p.Key, "_s"), "_", " ")
}

func more(b *strings.Builder, rows int, o Options) {
	if rows > maxRows && !o.Verbose {
		fmt.Fprintf(b, "  ... and %d more stages (--verbose shows all)\n", rows-maxRows)
	}
}

func causeLine(b *strings.Builder, r *report.Report) {
	if len(r.TimePerStage) < 2 {
		return
	}
	d := r.Bubble.Definitions
	fmt.Fprintf(b, "Bubble as papers define it: makespan - work %s, %.1f %% of work (Megatron-LM, GPipe), "+
		"%.1f %% of the makespan (bubble rate); longest span - work %s (zero bubble)\n",
		quantity.Seconds(d.Makespan), 100*d.OverIdeal, 100*d.OverTotal, quantity.Seconds(d.Span))
	c := r.Bubble.Causes
	fmt.Fprintf(b, "Bubble by cause: warm-up %s, cool-down %s, imbalance %s, communication %s, straggler %s\n",
		quantity.Seconds(c.Warmup), quantity.Seconds(c.Cooldown), quantity.Seconds(c.Imbalance),
		quantity.Seconds(c.Communication), quantity.Seconds(c.Straggler))
}

// memoryTable shows the memory account, in GiB.
func memoryTable(b *strings.Builder, stages []report.StageMemory, o Options) {
	b.WriteString("\nPeak memory of each stage's fullest rank, GiB\n")
	table(b, func(w io.Writer) {
		fmt.Fprint(w, "stage\tweights\tgradients\toptimizer\tactivations\ttemporary\tcomm\tcontext\t"+
			"allocated\treserved\tnvidia-smi\tcapacity\tfits\t\n")
		for i := range stages {
			m := &stages[i]
			if i >= maxRows && !o.Verbose {
				break
			}
			fits := "yes"
			if !m.Fits {
				fits = "NO"
			}
			fmt.Fprintf(w, "%d\t", m.Stage)
			for _, k := range m.AtPeak.Kinds() {
				fmt.Fprintf(w, "%.2f\t", float64(k.Bytes)/(1<<30))
			}
			for _, n := range []int64{m.PeakAllocated, m.PeakReserved, m.NvidiaSMI, m.Capacity} {
				fmt.Fprintf(w, "%.2f\t", float64(n)/(1<<30))
			}
			fmt.Fprintf(w, "%s\t\n", fits)
		}
	})
	more(b, len(stages), o)
}

func commTable(b *strings.Builder, r *report.Report) {
	if len(r.Communication) == 0 {
		return
	}
	b.WriteString("\nCommunication of the busiest rank\n")
	table(b, func(w io.Writer) {
		fmt.Fprint(w, "group\tcollective\tcount\tbytes each\tin flight ms\texposed ms\t"+
			"busbw GB/s\talgorithm\tbottleneck\t\n")
		for i := range r.Communication {
			c := &r.Communication[i]
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.2f\t%.2f\t%.1f\t%s\t%s\t\n", c.Group, c.Collective, c.Count,
				quantity.Size(c.Bytes/max(c.Count, 1)), 1e3*c.Seconds, 1e3*c.Exposed, c.BusBW/1e9,
				c.Algorithm, c.Bottleneck)
		}
	})
}

func verdict(b *strings.Builder, r *report.Report) {
	b.WriteString("\n")
	if o := r.OOM; o != nil {
		writeOOM(b, o)
	} else {
		b.WriteString("Fits in memory.\n")
	}
	if r.Deadlock != nil {
		fmt.Fprintf(b, "DEADLOCK: the figures above are those until then. %s\n", *r.Deadlock)
	}
	for _, a := range r.Advice {
		fmt.Fprintf(b, "%s: %s [%s]\n", strings.ToUpper(a.Severity[:1])+a.Severity[1:], a.Text, a.Code)
	}
}
