package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
	"trainsim/sim/step"
)

// compareCommand is `trainsim compare` with its flags.
type compareCommand struct {
	*app
	overrides
	figures       figureFlags
	out, baseline string
	verbose       bool
	maxEvents     uint64
}

// newCompareCommand is `trainsim compare`.
func newCompareCommand(a *app) *cobra.Command {
	c := &compareCommand{app: a}
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Set scenarios or saved runs side by side",
		Long: `compare shows what differs in the settings and in the results of several
scenarios, with ratios to a baseline, and draws their steps next to each other
and their pipelines on one time axis. Each argument is a scenario, which is
simulated, or a saved run: run.json or the folder that "trainsim run" wrote.`,
		Example: `  trainsim compare pp4-gpipe-8 pp4-1f1b-8
  trainsim compare trainsim-out/70b-tp4-pp2 my.toml --baseline my --json`,
		Args: cobra.MinimumNArgs(2),
		RunE: c.run,
	}
	f := cmd.Flags()
	c.overrides.flags(cmd)
	f.StringVar(&c.baseline, "baseline", "", "the `NAME` of what the others are compared with (default: the first)")
	f.StringVarP(&c.out, "out", "o", filepath.Join("trainsim-out", "compare"),
		"write figures and compare.json to `DIR`"+replacedNote)
	a.jsonFlag(cmd)
	c.figures.registerAll(f)
	f.BoolVarP(&c.verbose, "verbose", "v", false, "list every setting that differs")
	f.Uint64Var(&c.maxEvents, "max-events", 0, "give up after `N` events; 0 is no limit")
	return cmd
}

func (c *compareCommand) run(cmd *cobra.Command, args []string) error {
	options, err := c.figures.options()
	if err != nil {
		return err
	}
	cases, err := c.cases(cmd.Context(), args, c.all(cmd))
	if err != nil {
		return err
	}
	names := make([]string, len(cases))
	reports := make([]*report.Report, len(cases))
	for i := range cases {
		names[i], reports[i] = cases[i].Name, cases[i].Report
	}
	base := 0
	if c.baseline != "" {
		if base = slices.Index(names, c.baseline); base < 0 {
			return usagef("--baseline %q: write one of %s%s", c.baseline, strings.Join(names, ", "),
				didYouMean(c.baseline, names))
		}
	}
	comparison, err := report.Compare(names, reports, base)
	if err != nil {
		return err
	}
	return c.show(cases, comparison, options)
}

// show prints the comparison, writes it and draws it.
func (c *compareCommand) show(cases []report.Case, comparison *report.Comparison, options []chart.Options) error {
	var err error
	if c.json {
		err = c.writeJSON(comparison)
	} else {
		err = text.Comparison(c.stdout, comparison, c.verbose)
	}
	if err == nil {
		err = c.writeDocument(filepath.Join(c.out, "compare.json"), plots.OfComparison, asJSON(comparison))
	}
	if err != nil {
		return err
	}
	return c.drawAll(c.out, options, plots.OfComparison, &plots.Data{Cases: cases})
}

// cases reads or simulates what is to be compared. All scenarios are read
// before the first is simulated.
func (c *compareCommand) cases(ctx context.Context, args, sets []string) ([]report.Case, error) {
	runs := make([]*report.Run, len(args))
	cfgs := make([]*job.Config, len(args))
	var wrong input.Errors
	for i, arg := range args {
		var err error
		if path, saved := savedRun(arg); saved {
			runs[i], err = c.readRun(path)
		} else if cfgs[i], err = c.load(arg, sets); err != nil && adopt(&wrong, err) {
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	if len(wrong.Problems) > 0 {
		return nil, &wrong
	}
	for i := range args {
		if runs[i] == nil {
			run, err := c.simulate(ctx, cfgs[i])
			if err != nil {
				return nil, err
			}
			runs[i] = run
		}
	}
	return report.Cases(runs, args), nil
}

// adopt adds the problems of a scenario to those of others; false if err is
// something else.
func adopt(all *input.Errors, err error) bool {
	invalid, ok := err.(*input.Errors)
	if ok {
		all.Problems = append(all.Problems, invalid.Problems...)
	}
	return ok
}

// savedRun reports whether an argument names a saved run, and its file.
func savedRun(arg string) (path string, saved bool) {
	if strings.HasSuffix(arg, ".json") || strings.HasSuffix(arg, ".json.gz") {
		return arg, true
	}
	path = filepath.Join(arg, "run.json")
	info, err := os.Stat(path)
	return path, err == nil && !info.IsDir()
}

func (c *compareCommand) simulate(ctx context.Context, cfg *job.Config) (*report.Run, error) {
	j, err := build(ctx, cfg)
	if err != nil {
		return nil, err
	}
	res, err := step.Simulate(ctx, j, step.Options{MaxEvents: c.maxEvents, Fold: j.Ranks() > unfolded})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	return report.NewRun(ctx, res, scenarios.Resolved(cfg)), nil
}
