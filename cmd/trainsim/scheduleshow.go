package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/schedule"
	"trainsim/sim/trace"
)

// showSchedule runs the program under the costs and writes it as --format says.
func (a *app) showSchedule(p *schedule.Program, f *scheduleFlags) error {
	r, err := p.Execute(f.options.Costs)
	if err != nil {
		return usagef("%w", err)
	}
	out := f.out
	figure := slices.Contains(chart.Formats, f.format)
	switch {
	case out == "" && figure:
		out = p.Kind + "." + f.format
	case out == "":
		out = "-"
	}
	err = a.writeFile(out, func(w io.Writer) error { return f.write(w, p, r) })
	if err == nil && out != "-" {
		a.notef("wrote %s", out)
	}
	return err
}

// write writes the program in one format.
func (f *scheduleFlags) write(w io.Writer, p *schedule.Program, r *schedule.Result) error {
	switch f.format {
	case "json":
		return encodeJSON(w, p.Summary(r))
	case "csv":
		return p.WriteCSV(w)
	case "comm-csv":
		return p.WriteCommCSV(w)
	case "lists":
		return writeLists(w, p)
	case "comm":
		return f.writeComm(w, p)
	case "text":
		return f.writeText(w, p, r)
	}
	figure, err := plots.Schedule(f.chart(p, r), chart.Options{})
	if err != nil {
		return err
	}
	return figure.Encode(w, f.format)
}

// writeLists prints each rank's actions in order.
func writeLists(w io.Writer, p *schedule.Program) error {
	for rank := range p.Lists {
		if _, err := fmt.Fprintf(w, "rank %d: %s\n", rank, strings.Join(p.Tokens(rank), " ")); err != nil {
			return err
		}
	}
	return nil
}

// writeComm prints each rank's actions with its sends and receives, as --system
// orders them.
func (f *scheduleFlags) writeComm(w io.Writer, p *schedule.Program) error {
	lists, err := p.LowerAs(f.options.System)
	if err != nil {
		return usagef("%w", err)
	}
	for rank, list := range lists {
		if _, err := fmt.Fprintf(w, "rank %d: %s\n", rank, strings.Join(p.StepTokens(list), " ")); err != nil {
			return err
		}
	}
	return nil
}

// writeText prints the times, all four definitions of the bubble, a Gantt chart
// and what each rank does and keeps.
func (f *scheduleFlags) writeText(w io.Writer, p *schedule.Program, r *schedule.Result) error {
	fmt.Fprintf(w, "%s\nmakespan %s, work %s a rank\n\nbubble\n", f.title(p), number(r.Makespan), number(r.Work))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  %s\tmakespan - work: lost with a barrier at the optimizer step\n", number(r.Bubble()))
	fmt.Fprintf(t, "  %.1f %%\tof the ideal, bubble / work: as Megatron and GPipe state it\n", 100*r.BubbleOverIdeal())
	fmt.Fprintf(t, "  %.1f %%\tof the step, bubble / makespan: the \"bubble rate\"\n", 100*r.BubbleOverTotal())
	fmt.Fprintf(t, "  %s\tspan bubble, longest rank - work: lost without that barrier\n", number(r.SpanBubble()))
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := p.Gantt(w, r, schedule.GanttOptions{Width: f.ganttWidth(p), Color: f.wantsColor()}); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return writeRanks(w, p, r)
}

// writeRanks prints a line of figures for each rank.
func writeRanks(w io.Writer, p *schedule.Program, r *schedule.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rank\tidle\tspan\tpeak\tpeak to I\tsends forward\tbackward\tweight versions\t")
	for rank := range p.Lists {
		fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", rank, number(r.Idle[rank]), number(r.Span[rank]),
			r.Peak[rank], r.PeakInput[rank], r.Messages[rank][0], r.Messages[rank][1], r.WeightVersions[rank])
	}
	return t.Flush()
}

// title says what was built.
func (f *scheduleFlags) title(p *schedule.Program) string {
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
	return title + "; " + f.costText()
}

func (f *scheduleFlags) costText() string {
	c := f.options.Costs
	text := "costs of each stage from " + f.costFile
	if f.costFile == "" {
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

// number writes a time with at most six significant digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// ganttWidth is the width asked for, or what the terminal leaves beside the
// labels.
func (f *scheduleFlags) ganttWidth(p *schedule.Program) int {
	if f.width > 0 {
		return f.width
	}
	label := len("rank ") + len(strconv.Itoa(p.Ranks-1)) + 1
	return max(0, terminalWidth()-label)
}

func (f *scheduleFlags) wantsColor() bool {
	if f.color != "auto" {
		return f.color == "always"
	}
	return (f.out == "" || f.out == "-") && isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == ""
}

var actionKinds = map[schedule.Op]trace.Kind{
	schedule.Forward: trace.Forward, schedule.Backward: trace.Backward,
	schedule.BackwardInput: trace.BackwardInput, schedule.BackwardWeight: trace.BackwardWeight,
}

// chart turns the program into what plots draws. The halves of an overlapped
// pair share its time in proportion to their costs.
func (f *scheduleFlags) chart(p *schedule.Program, r *schedule.Result) plots.ScheduleChart {
	c := plots.ScheduleChart{Name: f.title(p), Subtitle: fmt.Sprintf(
		"makespan %s; bubble %s: %.1f %% of the step, %.1f %% of the ideal", number(r.Makespan), number(r.Bubble()), 100*r.BubbleOverTotal(), 100*r.BubbleOverIdeal())}
	for rank, list := range p.Lists {
		for i, action := range list {
			start, end := r.Start[rank][i], r.End[rank][i]
			switch {
			case action.Pair:
				end = start + (end-start)*f.firstShare(p, rank, action, list[i+1])
			case i > 0 && list[i-1].Pair:
				start += (end - start) * f.firstShare(p, rank, list[i-1], action)
			}
			c.Tasks = append(c.Tasks, plots.Task{Rank: rank, Start: start, End: end, Kind: actionKinds[action.Op],
				Microbatch: int(action.Microbatch), Chunk: int(action.Chunk)})
		}
	}
	return c
}

// firstShare is the first half's share of a pair's cost.
func (f *scheduleFlags) firstShare(p *schedule.Program, rank int, first, second schedule.Action) float64 {
	cost := func(a schedule.Action) float64 {
		return f.options.Costs.Stage(p.Stage(rank, int(a.Chunk))).Of(a.Op)
	}
	if sum := cost(first) + cost(second); sum > 0 {
		return cost(first) / sum
	}
	return 0.5
}

// parseStageCosts reads a line of forward, input-gradient and weight-gradient
// time for each stage; empty lines and those that begin with # are left out.
func parseStageCosts(name string, data []byte) ([]schedule.StageCost, error) {
	var out []schedule.StageCost
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var cost [3]float64
		fields := strings.Split(line, ",")
		if len(fields) != len(cost) {
			return nil, badInput(fmt.Errorf("%s:%d: %d numbers; write three, F,I,W, as in 10,12,8", name, n, len(fields)))
		}
		for i, field := range fields {
			x, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil {
				return nil, badInput(fmt.Errorf("%s:%d: %q is not a number; write F,I,W, as in 10,12,8", name, n, strings.TrimSpace(field)))
			}
			cost[i] = x
		}
		out = append(out, schedule.StageCost{Forward: cost[0], BackwardInput: cost[1], BackwardWeight: cost[2]})
	}
	if err := lines.Err(); err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", name, err))
	}
	if len(out) == 0 {
		return nil, badInput(fmt.Errorf("%s: no costs; write a line F,I,W for each stage", name))
	}
	return out, nil
}
