package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/schedule"
	"trainsim/schedule/draw"
	"trainsim/schedule/kinds"
	"trainsim/sim/output"
	"trainsim/sim/trace"
)

// scheduleFlags are the flags of `trainsim schedule`.
type scheduleFlags struct {
	options  schedule.Options
	system   string
	cost     []float64
	costFile string
	format   string
	out      string
	width    int
	color    string
}

// scheduleFormats are what --format takes beside the formats of figures.
var scheduleFormats = []string{"text", "lists", "comm", "json", "csv", "comm-csv"}

// newScheduleCommand is `trainsim schedule`.
func newScheduleCommand(a *app) *cobra.Command {
	var f scheduleFlags
	cmd := &cobra.Command{
		Use:   "schedule KIND|FILE.csv",
		Short: "Draw or print a pipeline schedule",
		Long: `schedule builds a pipeline schedule for given counts, or reads one from a CSV
file in torch.distributed.pipelining's notation ("-" is stdin), and shows what
every rank does when, under idealised costs: each action takes --cost, and what
it sends to another rank arrives --latency after its end.

Costs are those of one model chunk: with two chunks a rank, halve them to
compare with a schedule of one. "trainsim list schedules" shows the kinds. A
schedule has up to 8388608 actions, three for each micro-batch on each chunk.

Formats: text (times and a Gantt chart), lists (each rank's actions), comm (with
sends and receives as --system orders them), json, csv (torch's notation),
comm-csv (with torch's sends and receives), png, svg, pdf.`,
		Example: `  trainsim schedule 1f1b --pp 4 --microbatches 8
  trainsim schedule interleaved --pp 4 --microbatches 8 --virtual-stages 2 --format png
  trainsim schedule zb-auto --cost 10,12,8 --latency 0.5 --memory-cap 6
  trainsim schedule dualpipe --format csv >dualpipe.csv`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeSchedules,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.resolve(a); err != nil {
				return err
			}
			program, err := a.program(cmd, args[0], &f)
			if err != nil {
				return err
			}
			return a.showSchedule(cmd.Context(), program, &f)
		},
	}
	f.register(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (f *scheduleFlags) register(cmd *cobra.Command) {
	flags, o := cmd.Flags(), &f.options
	flags.IntVar(&o.Ranks, "pp", 4, "pipeline ranks")
	flags.IntVarP(&o.Microbatches, "microbatches", "m", 8, "micro-batches of a step, both directions together")
	flags.IntVar(&o.VirtualStages, "virtual-stages", 0, "model chunks a rank (default: the schedule's own)")
	flags.Float64SliceVar(&f.cost, "cost", []float64{1, 1, 1}, "`F,I,W`: forward, input-gradient and "+
		"weight-gradient time of a chunk")
	flags.StringVar(&f.costFile, "cost-file", "", "read F,I,W of each stage from `FILE`, a line a stage")
	flags.Float64Var(&o.Costs.Latency, "latency", 0, "time from an action's end to its output's arrival on another "+
		"rank")
	flags.Float64Var(&o.Costs.Pair, "pair", 0, "time of an overlapped forward-backward pair (default: the sum of "+
		"its halves)")
	flags.IntVar(&o.GroupSize, "group", 0, "micro-batches through one chunk before the next (default: as the system "+
		"chooses)")
	flags.IntVar(&o.MemoryCap, "memory-cap", 0, "most live chunk activations a rank, for zb-auto and v-adaptive "+
		"(default 2p)")
	flags.Float64Var(&o.WeightShare, "weight-share", 1, "share of an activation that W still needs, for zb-auto's cap")
	flags.IntVar(&o.Batches, "batches", 0, "batches in a row, for pipedream-2bw (default 2)")
	flags.StringVar(&f.system, "system", "any", "hold the counts to the checks of `SYSTEM`: any, torch, megatron, "+
		"deepspeed, deepseek")
	flags.StringVar(&f.format, "format", "text", "`FORMAT`: "+strings.Join(append(slices.Clone(scheduleFormats),
		chart.Formats...), ", "))
	flags.StringVarP(&f.out, "out", "o", "", "write to `FILE` (default: stdout, and KIND.png for figures)")
	flags.IntVar(&f.width, "width", 0, "columns of the Gantt chart (default: the terminal's)")
	flags.StringVar(&f.color, "color", "auto", "colour the Gantt chart: auto, always, never")
}

// resolve checks the flags that are not the schedule's own and reads the cost
// file.
func (f *scheduleFlags) resolve(a *app) error {
	if a.json {
		f.format = "json"
	}
	if !slices.Contains(scheduleFormats, f.format) && !slices.Contains(chart.Formats, f.format) {
		all := append(slices.Clone(scheduleFormats), chart.Formats...)
		return usagef("--format %q%s; write %s", f.format, didYouMean(f.format, all), strings.Join(all, ", "))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, f.color) {
		return usagef("--color %q; write auto, always or never", f.color)
	}
	if err := f.options.System.UnmarshalText([]byte(f.system)); err != nil {
		return usagef("--system: %w", err)
	}
	if f.width < 0 || f.width > 10000 {
		return usagef("--width %d; write a number of columns up to 10000", f.width)
	}
	if len(f.cost) != 3 {
		return usagef("--cost has %d numbers; write three, F,I,W, as in 10,12,8", len(f.cost))
	}
	f.options.Costs.StageCost = schedule.StageCost{Forward: f.cost[0], BackwardInput: f.cost[1],
		BackwardWeight: f.cost[2]}
	if f.costFile == "" {
		return nil
	}
	data, err := a.readFile(f.costFile)
	if err != nil {
		return unreadable(f.costFile, err)
	}
	if f.options.Costs.PerStage, err = schedule.ReadStageCosts(bytes.NewReader(data), f.costFile); err != nil {
		return badInput(err)
	}
	return nil
}

// countFlags are the flags that a schedule read from a file has no use for.
var countFlags = []string{"pp", "microbatches", "virtual-stages", "group", "memory-cap", "weight-share", "batches",
	"system"}

// countFlag names the flag of each count that a schedule can refuse.
var countFlag = map[string]string{
	"ranks": "pp", "microbatches": "microbatches", "virtual stages": "virtual-stages", "group size": "group",
	"memory cap": "memory-cap", "batches": "batches",
}

// program builds the named schedule or reads it from a file.
func (a *app) program(cmd *cobra.Command, name string, f *scheduleFlags) (*schedule.Program, error) {
	if name != "-" && !strings.HasSuffix(name, ".csv") {
		p, err := kinds.Build(cmd.Context(), name, f.options)
		var count *schedule.CountError
		switch {
		case errors.As(err, &count):
			return nil, usagef("--%s: %w", countFlag[count.Count], err)
		case err != nil:
			return nil, usagef("%w%s", err, f.suggestKind(name))
		}
		return p, nil
	}
	for _, flag := range countFlags {
		if cmd.Flags().Changed(flag) {
			return nil, usagef("--%s has no meaning for a schedule that is read from a file", flag)
		}
	}
	data, err := a.readFile(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	p, err := schedule.ParseCSV(string(data), name)
	switch {
	case errors.Is(err, schedule.ErrDeadlock):
		return nil, unrunnable(err)
	case err != nil:
		return nil, badInput(err)
	}
	return p, nil
}

// suggestKind names the kind nearest to a misspelt one.
func (f *scheduleFlags) suggestKind(name string) string {
	if _, err := kinds.Find(name); err == nil {
		return ""
	}
	var names []string
	for _, k := range kinds.All() {
		names = append(append(names, k.Name), k.Aliases...)
	}
	return didYouMean(name, names)
}

// showSchedule runs the program under the costs and writes it as --format says.
func (a *app) showSchedule(ctx context.Context, p *schedule.Program, f *scheduleFlags) error {
	r, err := p.Execute(ctx, f.options.Costs)
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
		return output.JSON(w, draw.Summarise(p, r))
	case "csv":
		return p.WriteCSV(w)
	case "comm-csv":
		return p.WriteCommCSV(w)
	case "lists":
		return draw.Lists(w, p)
	case "comm":
		lists, err := p.LowerAs(f.options.System)
		if err != nil {
			return usagef("%w", err)
		}
		return draw.Steps(w, p, lists)
	case "text":
		return draw.Text(w, p, r, f.drawing(p))
	}
	figure, err := plots.Schedule(f.chart(p, r), chart.Options{})
	if err != nil {
		return err
	}
	return figure.Encode(w, f.format)
}

// drawing says how the text is drawn: as wide as asked for, or as the terminal
// is beside the labels.
func (f *scheduleFlags) drawing(p *schedule.Program) draw.Options {
	o := draw.Options{Costs: f.options.Costs, CostFile: f.costFile, Width: f.width, Color: f.color == "always"}
	if o.Width == 0 {
		label := len("rank ") + len(strconv.Itoa(p.Ranks-1)) + 1
		o.Width = max(0, terminalWidth()-label)
	}
	if f.color == "auto" {
		o.Color = (f.out == "" || f.out == "-") && isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == ""
	}
	return o
}

var actionKinds = map[schedule.Op]trace.Kind{
	schedule.Forward: trace.Forward, schedule.Backward: trace.Backward,
	schedule.BackwardInput: trace.BackwardInput, schedule.BackwardWeight: trace.BackwardWeight,
}

// chart turns the program into what plots draws.
func (f *scheduleFlags) chart(p *schedule.Program, r *schedule.Result) plots.ScheduleChart {
	c := plots.ScheduleChart{Name: draw.Title(p, f.drawing(p)), Subtitle: draw.Subtitle(r)}
	for _, s := range draw.Spans(p, r, f.options.Costs) {
		c.Tasks = append(c.Tasks, plots.Task{Rank: s.Rank, Start: s.Start, End: s.End, Kind: actionKinds[s.Action.Op],
			Microbatch: int(s.Action.Microbatch), Chunk: int(s.Action.Chunk)})
	}
	return c
}

// completeSchedules completes files and the names of the schedules.
func completeSchedules(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, k := range kinds.All() {
		names = append(names, k.Name)
	}
	return names, cobra.ShellCompDirectiveDefault
}
