package text

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"trainsim/sim/report"
	"trainsim/sim/report/quantity"
)

// Plan prints the best layouts with why, and the fronts.
func Plan(w io.Writer, p *report.Plan) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: global batch %d\n", p.Scenario, p.Batch)
	for i := range p.Sizes {
		writeSize(&b, &p.Sizes[i])
	}
	if len(p.Sizes) == 0 {
		b.WriteString("\nNo layout fits.\n")
	}
	if len(p.Sizes) > 1 {
		b.WriteString("\nStep time against GPUs\n")
		table(&b, func(w io.Writer) {
			fmt.Fprint(w, "gpus\tstep\tefficiency\t\n")
			for _, s := range p.Scaling {
				fmt.Fprintf(w, "%d\t%s\t%.1f %%\t\n", s.GPUs, quantity.Seconds(s.StepTime), 100*s.Efficiency)
			}
		})
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeSize(b *strings.Builder, s *report.PlanSize) {
	fmt.Fprintf(b, "\n%d GPUs: %s\n\n", s.GPUs, s.Verdict)
	writePlanTable(b, s.Best)
	for i := range s.Best {
		fmt.Fprintf(b, "%4d  %s\n", s.Best[i].Rank, s.Best[i].Why)
	}
	b.WriteString("\nStep time against memory to spare (the front)\n")
	writePlanTable(b, s.Front)
}

// writePlanTable prints layouts, with a column for expert parallelism where any
// has it.
func writePlanTable(b *strings.Builder, entries []report.PlanEntry) {
	experts := slices.ContainsFunc(entries, func(e report.PlanEntry) bool {
		return e.Settings.Value("parallel.ep") != "1" && e.Settings.Value("parallel.ep") != ""
	})
	table(b, func(w io.Writer) {
		writePlanHead(w, experts)
		for i := range entries {
			writeEntry(w, &entries[i], experts)
		}
	})
}

func writePlanHead(w io.Writer, experts bool) {
	ep := ""
	if experts {
		ep = "ep\t"
	}
	fmt.Fprint(w, "rank\ttp\tcp\tpp\tdp\t"+ep+"zero\tsp\tm x size\tschedule\tv\trecompute\t"+
		"step\tMFU %\tbubble %\texposed %\tpeak GiB\tspare GiB\t\n")
}

func writeEntry(w io.Writer, e *report.PlanEntry, experts bool) {
	rank := "-"
	if e.Rank > 0 {
		rank = strconv.Itoa(e.Rank)
	}
	v := e.Settings.Value
	replicas := v("parallel.dp")
	if experts {
		replicas += "\t" + v("parallel.ep")
	}
	sp := map[string]string{"true": "yes", "false": "no"}[v("parallel.sequence_parallel")]
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s x %s\t%s\t%s\t%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", rank,
		v("parallel.tp"), v("parallel.cp"), v("parallel.pp"), replicas, v("parallel.zero"), sp,
		v("schedule.microbatches"), v("schedule.microbatch_size"), v("schedule.kind"),
		v("schedule.virtual_stages"), v("training.recompute"),
		quantity.Seconds(e.StepTime), 100*e.MFU, 100*e.Bubble, 100*e.ExposedComm,
		float64(e.PeakMemory)/(1<<30), float64(e.Headroom)/(1<<30))
}
