package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
	"trainsim/sim/search"
	"trainsim/sim/search/journal"
)

// sweepCommand is `trainsim sweep` with its flags.
type sweepCommand struct {
	*app
	overrides
	figures    figureFlags
	vary       []string
	zip, keep  string
	out, shard string
	jobs       int
	startFlags
	everyRank bool
	maxEvents uint64
}

// zipAll is what --zip without a list of keys stands for.
const zipAll = "all"

// newSweepCommand is `trainsim sweep`.
func newSweepCommand(a *app) *cobra.Command {
	s := &sweepCommand{app: a}
	cmd := &cobra.Command{
		Use:   "sweep SCENARIO --vary KEY=VALUES...",
		Short: "Simulate a scenario over values of its keys: table, CSV, figure",
		Long: `sweep simulates the product of the values of each --vary: every point is a full
simulation, several at a time. VALUES are separated by commas; 2..8 counts from
2 to 8, 4..32+4 by steps of 4, 2..64*2 doubles. What cannot run (invalid, out of
memory, deadlock, a simulation that fails) is a row with its reason. When the
layout or the number of GPUs varies, parallel.dp follows from the rest.

Results are written to sweep.jsonl as they come, each line with a checksum. After
an interruption or a crash the same command goes on where it stopped, and lines
that were changed are not believed; --fresh starts over, --retry-failed simulates
again what failed (exit code 1). At the end there are sweep.csv, sweep.json and
sweep.png, the same whatever --jobs is.`,
		Example: `  trainsim sweep 70b-tp4-pp2 --vary schedule.microbatches=2..64*2 --keep global_batch
  trainsim sweep my.toml --vary parallel.pp=2,4 --vary schedule.microbatches=4..32*2
  trainsim sweep my.toml --vary parallel.tp=1,2,4 --vary schedule.microbatch_size=1,2,4 --zip
  trainsim sweep my.toml --vary parallel.tp=1..8*2 --shard 0/4`,
		Args: cobra.ExactArgs(1),
		RunE: s.run,
	}
	f := cmd.Flags()
	s.overrides.flags(cmd)
	f.StringArrayVar(&s.vary, "vary", nil, "give a key several values, as in `schedule.microbatches=2..64*2` "+
		"(repeatable)")
	f.StringVar(&s.zip, "zip", "", "let the keys in this `LIST`, without one all keys, advance together instead of "+
		"multiplying")
	f.Lookup("zip").NoOptDefVal = zipAll
	f.StringVar(&s.keep, "keep", "", "keep `global_batch` as the scenario has it: other micro-batches follow")
	f.StringVarP(&s.out, "out", "o", "", "write files to `DIR` (default trainsim-out/NAME-sweep)"+replacedNote)
	a.jsonFlag(cmd)
	s.figures.registerAll(f)
	f.IntVarP(&s.jobs, "jobs", "j", 0, "simulate `N` points at a time; 0 is one a core")
	shardFlag(f, &s.shard)
	s.startFlags.register(cmd)
	f.BoolVar(&s.everyRank, "no-fold", false, "simulate every rank, also those that cannot differ")
	f.Uint64Var(&s.maxEvents, "max-events", 0, "give a point up after `N` events; 0 is no limit")
	return cmd
}

func (s *sweepCommand) run(cmd *cobra.Command, args []string) error {
	options, err := s.figures.options()
	if err != nil {
		return err
	}
	part, err := s.environmentShard(s.shard)
	if err != nil {
		return err
	}
	grid, err := s.grid(args[0], s.all(cmd))
	if err != nil {
		return err
	}
	how := search.Options{Jobs: s.jobs, Shard: part, EveryRank: s.everyRank, MaxEvents: s.maxEvents}
	head, err := journal.ForSweep(grid, how)
	if err != nil {
		return err
	}
	dir := s.out
	if dir == "" {
		dir = filepath.Join("trainsim-out", fileName(head.Scenario)+"-sweep")
	}
	dir = part.Folder(dir)
	j, err := s.openJournal(dir, head, s.start())
	if err != nil {
		return err
	}
	defer j.Close()
	if err := s.fill(cmd.Context(), j, grid, how); err != nil {
		return err
	}
	doc := &report.SweepDoc{Scenario: head.Scenario, Axes: head.Axes, Rows: j.Rows()}
	if err := s.writeSweep(dir, doc); err != nil {
		return err
	}
	if err := j.Sort(); err != nil {
		return err
	}
	return s.finish(doc, dir, part, options)
}

// fill simulates what the journal does not have and sees it to the disk.
func (s *sweepCommand) fill(ctx context.Context, j *journal.Journal, grid *search.Grid, how search.Options) error {
	var finish func()
	how.Progress, finish = s.bar("simulating")
	err := grid.Run(ctx, j, how)
	finish()
	if e := j.Finish(); err == nil {
		err = e
	}
	if ctx.Err() != nil {
		s.notef("%d of %d results are in %s; the same command goes on from there", j.Kept(),
			how.Shard.Count(grid.Len()), j.Path())
	}
	return err
}

// grid reads the scenario and the axes.
func (s *sweepCommand) grid(name string, sets []string) (*search.Grid, error) {
	if len(s.vary) == 0 {
		return nil, usagef("nothing varies; write something like --vary schedule.microbatches=4,8,16")
	}
	var axes []report.Axis
	var zip []string
	for _, text := range s.vary {
		axis, err := search.ParseAxis(text)
		if err != nil {
			return nil, usagef("--vary %v", err)
		}
		axes = append(axes, axis)
		if s.zip == zipAll {
			zip = append(zip, axis.Key)
		}
	}
	if s.zip != "" && s.zip != zipAll {
		zip = strings.Split(s.zip, ",")
	}
	grid, err := search.NewGrid(axes, zip)
	if err != nil {
		return nil, usagef("%v", err)
	}
	grid.Sets = sets
	if grid.Template, err = s.template(name); err != nil {
		return nil, err
	}
	if s.keep == "" {
		return grid, nil
	}
	if s.keep != "global_batch" {
		return nil, usagef("--keep %q: write global_batch", s.keep)
	}
	base, err := grid.Template.Load(sets)
	if err == nil {
		grid.Batch = base.Samples()
	}
	return grid, err
}

// finish draws and prints a sweep whose rows are complete.
func (s *sweepCommand) finish(doc *report.SweepDoc, dir string, part search.Shard, options []chart.Options) error {
	sum, err := doc.Summarize()
	if err != nil {
		return err
	}
	if err := s.drawAll(dir, options, plots.OfSweep, &plots.Data{Sweep: plots.SweepOf(doc, sum)}); err != nil {
		return err
	}
	if s.json {
		err = doc.WriteJSON(s.stdout)
	} else {
		err = text.Sweep(s.stdout, doc, sum)
	}
	if err == nil {
		err = sweepVerdict(sum, part)
	}
	return err
}

// sweepVerdict is the error of a sweep without a point that runs. What a shard
// lacks others may have.
func sweepVerdict(s *report.SweepSummary, part search.Shard) error {
	switch {
	case s.Counts[report.OutcomeFailed] > 0:
		return fmt.Errorf("%d of %d points failed; --retry-failed simulates them again",
			s.Counts[report.OutcomeFailed], s.Points)
	case s.Counts[report.OutcomeOK] > 0 || !part.Whole():
		return nil
	case s.Counts[report.OutcomeInvalid] == s.Points:
		return badInput(fmt.Errorf("no point of the sweep is valid"))
	}
	return unrunnable(fmt.Errorf("no point of the sweep runs"))
}
