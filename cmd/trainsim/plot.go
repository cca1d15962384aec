package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"trainsim/plots"
	"trainsim/sim/report"
)

// newPlotCommand is `trainsim plot`.
func newPlotCommand(a *app) *cobra.Command {
	var out string
	var o plots.Options
	cmd := &cobra.Command{
		Use:   "plot RUN.json",
		Short: "Redraw the figures of a saved run",
		Long: `plot draws the figures of a run that "trainsim run" saved as run.json, beside
that file or in --out. "-" reads the run from stdin.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(o.Format); err != nil {
				return err
			}
			run, err := a.readRun(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Dir(args[0])
			}
			return a.draw(out, run, o)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the figures to `DIR`")
	formatFlag(cmd.Flags(), &o.Format)
	cmd.Flags().StringVar(&o.Title, "title", "", "`TEXT` in the titles in place of the scenario's name")
	return cmd
}

// formatFlag chooses the kind of file that figures are written as.
func formatFlag(f *pflag.FlagSet, format *string) {
	f.StringVar(format, "format", "png", "write figures as `FORMAT`: "+strings.Join(plots.Formats, ", "))
}

// checkFormat refuses what cannot be drawn before anything runs.
func checkFormat(format string) error {
	if !slices.Contains(plots.Formats, format) {
		return usagef("--format %q: write %s", format, strings.Join(plots.Formats, ", "))
	}
	return nil
}

// readRun reads a saved run; what is not one is bad input.
func (a *app) readRun(path string) (*report.Run, error) {
	in := a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, badInput(fmt.Errorf("%s: %w", path, cause(err)))
		}
		defer f.Close()
		in = f
	}
	run, err := report.ReadRun(in)
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", path, err))
	}
	return run, nil
}

// draw writes the figures of a run to dir and says on stderr which.
func (a *app) draw(dir string, run *report.Run, o plots.Options) error {
	paths, err := plots.WriteAll(dir, run.Recording, run.Report, o)
	for _, p := range paths {
		a.notef("wrote %s", p)
	}
	return err
}
