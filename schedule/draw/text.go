package draw

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"trainsim/schedule"
)

// Options say under what costs a program was executed and how it is drawn.
type Options struct {
	Costs    schedule.Costs
	CostFile string // where Costs.PerStage came from, "" without
	Width    int    // most columns of the Gantt chart; 0: 120
	Color    bool   // colours in the Gantt chart
}

// Text writes the times of a program, all four definitions of the bubble, a
// Gantt chart, and what each rank does and keeps.
func Text(w io.Writer, p *schedule.Program, r *schedule.Result, o Options) error {
	fmt.Fprintf(w, "%s\nmakespan %s, work %s a rank\n\nbubble\n", Title(p, o), number(r.Makespan), number(r.Work))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  %s\tmakespan - work: lost with a barrier at the optimizer step\n", number(r.Bubble()))
	fmt.Fprintf(t, "  %.1f %%\tof the ideal, bubble / work: as Megatron and GPipe state it\n", 100*r.BubbleOverIdeal())
	fmt.Fprintf(t, "  %.1f %%\tof the step, bubble / makespan: the \"bubble rate\"\n", 100*r.BubbleOverTotal())
	fmt.Fprintf(t, "  %s\tspan bubble, longest rank - work: lost without that barrier\n", number(r.SpanBubble()))
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := Gantt(w, p, r, o.Width, o.Color); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return ranks(w, p, r)
}

// Title says what was built, for which counts and costs.
func Title(p *schedule.Program, o Options) string {
	title := fmt.Sprintf("%s: %d ranks, %d micro-batches", p.Kind, p.Ranks, p.Microbatches)
	switch {
	case p.Placement == schedule.Bidirectional:
		title += ", two directions"
	case p.Chunks > 1:
		title += fmt.Sprintf(", %d chunks a rank (%s)", p.Chunks, p.Placement)
	}
	if p.GroupSize > 0 {
		title += fmt.Sprintf(", groups of %d", p.GroupSize)
	}
	if p.Batches > 1 {
		title += fmt.Sprintf(", %d batches", p.Batches)
	}
	return title + "; " + costs(o)
}

// Subtitle sums the result up in a line.
func Subtitle(r *schedule.Result) string {
	return fmt.Sprintf("makespan %s; bubble %s: %.1f %% of the step, %.1f %% of the ideal",
		number(r.Makespan), number(r.Bubble()), 100*r.BubbleOverTotal(), 100*r.BubbleOverIdeal())
}

func costs(o Options) string {
	c := o.Costs
	text := "costs of each stage from " + o.CostFile
	if o.CostFile == "" {
		text = fmt.Sprintf("F %s, I %s, W %s", number(c.Forward), number(c.BackwardInput), number(c.BackwardWeight))
	}
	if c.Pair > 0 {
		text += ", pair " + number(c.Pair)
	}
	if c.Latency > 0 {
		text += ", latency " + number(c.Latency)
	}
	return text
}

// ranks writes a line of figures for each rank.
func ranks(w io.Writer, p *schedule.Program, r *schedule.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rank\tidle\tspan\tpeak\tpeak to I\tsends forward\tbackward\tweight versions\t")
	for rank := range p.Lists {
		fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", rank, number(r.Idle[rank]), number(r.Span[rank]),
			r.Peak[rank], r.PeakInput[rank], r.Messages[rank][0], r.Messages[rank][1], r.WeightVersions[rank])
	}
	return t.Flush()
}

// number writes a time with at most six significant digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// Lists writes each rank's actions in order.
func Lists(w io.Writer, p *schedule.Program) error {
	for rank := range p.Lists {
		if err := list(w, rank, p.Tokens(rank)); err != nil {
			return err
		}
	}
	return nil
}

// Steps writes each rank's actions with sends and receives, as
// [schedule.Program.LowerAs] returned them.
func Steps(w io.Writer, p *schedule.Program, lists [][]schedule.Step) error {
	for rank, steps := range lists {
		if err := list(w, rank, p.StepTokens(steps)); err != nil {
			return err
		}
	}
	return nil
}

func list(w io.Writer, rank int, tokens []string) error {
	_, err := fmt.Fprintf(w, "rank %d: %s\n", rank, strings.Join(tokens, " "))
	return err
}
