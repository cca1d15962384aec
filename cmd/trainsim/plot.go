package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/sim/input"
	"trainsim/sim/report"
)

// newPlotCommand is `trainsim plot`.
func newPlotCommand(a *app) *cobra.Command {
	var out string
	var figures figureFlags
	cmd := &cobra.Command{
		Use:   "plot RUN.json|DIR",
		Short: "Redraw the figures of a saved run",
		Long: `plot draws the figures of a run that "trainsim run" saved as run.json, or of the
folder that holds it, beside that file or in --out. "-" reads the run from stdin.`,
		Example: `  trainsim plot trainsim-out/70b-tp4-pp2/run.json --format svg,pdf --size 1920x1080`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := figures.options()
			if err != nil {
				return err
			}
			path := args[0]
			if inside, folder := savedRun(path); folder {
				path = inside
			}
			run, err := a.readRun(path)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Dir(path)
			} else if err := ofAnotherRun(out, path); err != nil {
				return err
			}
			for _, o := range options {
				if err := a.draw(out, run, o); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the figures to `DIR`")
	figures.register(cmd.Flags())
	return cmd
}

// ofAnotherRun refuses a folder that holds another run than is drawn: its figures
// would stand beside that one's report.
func ofAnotherRun(dir, run string) error {
	there := filepath.Join(dir, "run.json")
	if !isDocument(there) || run == "-" || sameFile(there, run) {
		return nil
	}
	return usagef("%s is another run than %s; write elsewhere with --out", there, run)
}

// checkFormat refuses what cannot be drawn before anything runs.
func checkFormat(format string) error {
	if !slices.Contains(chart.Formats, format) {
		return usagef("--format %q: write %s", format, strings.Join(chart.Formats, ", "))
	}
	return nil
}

// readRun reads a saved run; what is not one is bad input.
func (a *app) readRun(path string) (*report.Run, error) {
	in, name := a.stdin, "standard input"
	if path != "-" {
		name = path
		f, err := os.Open(path)
		if err != nil {
			return nil, unreadable(path, err)
		}
		defer f.Close()
		in = f
	}
	run, err := report.ReadRun(in)
	var placed *input.Problem
	if errors.As(err, &placed) && placed.Line > 0 {
		placed.File = name
		return nil, badInput(placed)
	}
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", name, err))
	}
	return run, nil
}

// draw writes the figures of a run to dir and says on stderr which.
func (a *app) draw(dir string, run *report.Run, o chart.Options) error {
	paths, err := plots.WriteRun(dir, run, o)
	for _, p := range paths {
		a.notef("wrote %s", p)
	}
	return err
}
