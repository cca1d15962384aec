package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/schedule"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
	"trainsim/sim/step"
)

// runCommand is `trainsim run` with its flags.
type runCommand struct {
	*app
	overrides
	figures         figureFlags
	options         []chart.Options
	out, review     string
	trace, snapshot string
	timing, printed bool
	check, verbose  bool
	fold, noFold    bool
	maxEvents       uint64
}

// newRunCommand is `trainsim run`.
func newRunCommand(a *app) *cobra.Command {
	r := &runCommand{app: a}
	cmd := &cobra.Command{
		Use:   "run SCENARIO...",
		Short: "Simulate a training step: report, figures, trace",
		Long: `run simulates one training step of each scenario, a file or the name of a
built-in one (see "trainsim list scenarios"), and prints its report. Figures,
report.json and run.json (for "trainsim plot") go to trainsim-out/NAME.`,
		Example: `  trainsim run 70b-tp4-pp2
  trainsim run my.toml --set parallel.tp=8 --trace my.json.gz --json
  trainsim run my.toml --report review --format png,pdf`,
		Args: cobra.MinimumNArgs(1),
		RunE: r.run,
	}
	f := cmd.Flags()
	r.overrides.flags(cmd)
	f.StringVarP(&r.out, "out", "o", "", "write files to `DIR` (default trainsim-out/NAME); DIR/NAME of several "+
		"scenarios"+replacedNote)
	a.jsonFlag(cmd)
	r.figures.registerAll(f)
	f.StringVar(&r.review, "report", "", "write a folder for a design review to `DIR`: README.md, figures, the "+
		"resolved scenario")
	f.StringVar(&r.trace, "trace", "", "write a Chrome/Perfetto trace to `FILE`, gzipped if it ends in .gz")
	f.StringVar(&r.snapshot, "snapshot", "", "write the fullest GPU's allocations as a `FILE` for "+
		"pytorch.org/memory_viz")
	f.BoolVarP(&r.verbose, "verbose", "v", false, "every stage, link and collective in the text report")
	f.BoolVar(&r.timing, "timing", false, "put the simulation's own wall-clock time into the report")
	f.BoolVar(&r.printed, "print-scenario", false, "print the scenario with every default written out, and stop")
	f.BoolVar(&r.check, "check", false, "check the run's invariants (nothing overlaps, times add up)")
	f.BoolVar(&r.fold, "fold", false, "simulate once what cannot differ, such as data-parallel replicas on equal "+
		"links")
	f.BoolVar(&r.noFold, "no-fold", false, "simulate every rank; the default up to 256 ranks")
	cmd.MarkFlagsMutuallyExclusive("fold", "no-fold")
	f.Uint64Var(&r.maxEvents, "max-events", 0, "give up after `N` events; 0 is no limit")
	return cmd
}

func (r *runCommand) run(cmd *cobra.Command, args []string) error {
	var err error
	if r.options, err = r.figures.options(); err != nil {
		return err
	}
	for _, f := range [][2]string{{"--trace", r.trace}, {"--snapshot", r.snapshot}} {
		if f[1] != "" && len(args) > 1 {
			return usagef("%s writes one file; run %d scenarios one by one", f[0], len(args))
		}
	}
	cfgs, err := r.loadAll(args, r.all(cmd))
	if err != nil {
		return err
	}
	if r.printed {
		return r.print(cfgs)
	}
	return r.runAll(cmd.Context(), cfgs)
}

// unfolded is the largest job whose ranks are all simulated by default. Folding
// changes no result, only who is an actor and a lane of the recording.
const unfolded = 256

func (r *runCommand) folds(j *job.Job) bool {
	return r.fold || (!r.noFold && j.Ranks() > unfolded)
}

// runAll simulates the scenarios one after the other. A file that cannot be
// written does not keep the report from being printed.
func (r *runCommand) runAll(ctx context.Context, cfgs []*job.Config) error {
	var reports []*report.Report
	var failed error
	for i, cfg := range cfgs {
		run, res, err := r.simulate(ctx, cfg)
		if err != nil {
			return err
		}
		reports = append(reports, run.Report)
		if err := r.show(cfg, run, i); err != nil {
			return err
		}
		if err := r.write(cfg, run, res, len(cfgs) > 1); failed == nil {
			failed = err
		}
	}
	if err := showAll(r.app, reports); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return verdict(cfgs, reports)
}

// print writes the resolved scenarios.
func (r *runCommand) print(cfgs []*job.Config) error {
	var resolved []any
	for _, cfg := range cfgs {
		resolved = append(resolved, scenarios.Resolved(cfg))
		if r.json {
			continue
		}
		if err := scenarios.Write(r.stdout, cfg); err != nil {
			return err
		}
	}
	return showAll(r.app, resolved)
}

// simulate runs one scenario.
func (r *runCommand) simulate(ctx context.Context, cfg *job.Config) (*report.Run, *step.Result, error) {
	j, err := build(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	res, err := step.Simulate(ctx, j, step.Options{MaxEvents: r.maxEvents, Fold: r.folds(j)})
	if err != nil && (res == nil || !errors.Is(err, schedule.ErrDeadlock)) {
		return nil, nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	wall := time.Since(start).Seconds()
	rate := float64(res.Events) / wall
	r.notef("%s: %d events in %.3f s, %.2f million a second", cfg.Name, res.Events, wall, rate/1e6)
	run := report.NewRun(ctx, res, scenarios.Resolved(cfg))
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	rep := run.Report
	if err != nil {
		text := err.Error()
		rep.Deadlock = &text
	}
	if r.timing {
		rep.Engine.Wall, rep.Engine.EventsPerS = &wall, &rate
	}
	if r.check && rep.Deadlock == nil {
		return run, res, run.Check()
	}
	return run, res, nil
}

// show prints a report as text. What was printed stands even if a file cannot
// be written later.
func (r *runCommand) show(cfg *job.Config, run *report.Run, index int) error {
	if r.json {
		return nil
	}
	if index > 0 {
		fmt.Fprintln(r.stdout)
	}
	if err := text.Report(r.stdout, run.Report, text.Options{Title: cfg.Name, Headline: headline(cfg),
		Verbose: r.verbose}); err != nil {
		return err
	}
	return r.stdout.Flush()
}

// verdict is the error of the scenarios that cannot run: out of memory, deadlock.
func verdict(cfgs []*job.Config, reports []*report.Report) error {
	var lines []string
	for i, rep := range reports {
		if rep.Deadlock != nil {
			lines = append(lines, cfgs[i].Name+": "+*rep.Deadlock)
		}
		if o := rep.OOM; o != nil && o.Allowed > 0 {
			lines = append(lines, fmt.Sprintf("%s: out of memory on rank %d (stage %d) in %s: it needs %s",
				cfgs[i].Name, o.Rank, o.Stage, o.Action, o.Needs()))
		} else if o != nil {
			lines = append(lines, fmt.Sprintf("%s: out of memory on rank %d (stage %d) in %s: %.1f GiB needed, %.1f "+
				"GiB there",
				cfgs[i].Name, o.Rank, o.Stage, o.Action, gib(o.Needed), gib(o.Capacity)))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return unrunnable(fmt.Errorf("%s", strings.Join(lines, "\n")))
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }
