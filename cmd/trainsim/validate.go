package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/plots"
	"trainsim/scenarios"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// validateCommand is `trainsim validate`.
type validateCommand struct {
	*app
	plot string
	jobs int
}

// newValidateCommand is `trainsim validate`.
func newValidateCommand(a *app) *cobra.Command {
	v := &validateCommand{app: a}
	cmd := &cobra.Command{
		Use:   "validate FILE.csv...",
		Short: "Score predictions against measurements",
		Long: `validate predicts what was measured and prints the error of each row and of
each family of rows. It knows by the header what a file holds: training runs,
collectives, matrix products or attention kernels. A row that cannot be
predicted is listed with the reason and counts as missed by all of it. "-" is
stdin.`,
		Example: `  trainsim validate runs.csv
  trainsim validate gemm.csv attention.csv --json
  trainsim validate runs.csv --plot runs.png`,
		Args: cobra.MinimumNArgs(1),
		RunE: v.run,
	}
	a.jsonFlag(cmd)
	cmd.Flags().StringVar(&v.plot, "plot", "", "draw predicted against measured to `FILE` (.png, .svg or .pdf)")
	cmd.Flags().IntVar(&v.jobs, "jobs", 0, "predict `N` rows at a time; 0 is one a core")
	return cmd
}

// predictor is a row with the work that fills in its prediction.
type predictor struct {
	row     report.Scored
	predict func(context.Context, *report.Scored) error
}

func (v *validateCommand) run(cmd *cobra.Command, args []string) error {
	if err := v.checkPlot(); err != nil {
		return err
	}
	var all []predictor
	for _, path := range args {
		rows, err := v.read(path)
		if err != nil {
			return err
		}
		all = append(all, rows...)
	}
	score, err := v.score(cmd.Context(), all)
	if err != nil {
		return err
	}
	if v.json {
		err = v.writeJSON(score)
	} else {
		err = score.WriteText(v.stdout)
	}
	if err != nil || v.plot == "" {
		return err
	}
	return v.draw(score)
}

// checkPlot refuses a figure that cannot be written before anything runs.
func (v *validateCommand) checkPlot() error {
	if v.plot == "" {
		return nil
	}
	return checkFormat(strings.TrimPrefix(strings.ToLower(filepath.Ext(v.plot)), "."))
}

// read finds out by its header what a file holds.
func (v *validateCommand) read(path string) ([]predictor, error) {
	text, err := v.readFile(path)
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", path, cause(err)))
	}
	name := path
	if path == "-" {
		name = "standard input"
	}
	header, _ := csv.NewReader(strings.NewReader(string(text))).Read()
	return v.readRuns(strings.NewReader(string(text)), name, header)
}

func (v *validateCommand) readRuns(r io.Reader, name string, _ []string) ([]predictor, error) {
	runs, err := scenarios.ReadRuns(r, name)
	if err != nil {
		return nil, err
	}
	out := make([]predictor, len(runs))
	for i := range runs {
		out[i] = predictRun(&runs[i])
	}
	return out, nil
}

// predictRun makes the row of a measured run.
func predictRun(run *scenarios.Run) predictor {
	p := predictor{row: report.Scored{
		ID: run.ID, Family: run.Family, Quality: run.Quality, MemoryMetric: string(run.MemoryMetric),
		OutcomeMeasured: report.OutcomeOK, Skipped: run.Skipped,
	}}
	if run.OOM {
		p.row.OutcomeMeasured = report.OutcomeOOM
	}
	if run.Seconds > 0 {
		p.row.Measured = &run.Seconds
	}
	if run.MemoryBytes > 0 {
		p.row.MeasuredBytes = &run.MemoryBytes
	}
	if run.Config != nil {
		p.predict = func(ctx context.Context, s *report.Scored) error {
			res, err := step.Run(ctx, run.Config, step.Options{NoRecording: true, Fold: true})
			if err == nil {
				s.Predict(res)
			}
			return err
		}
	}
	return p
}

// score predicts all rows, several at a time. A row that fails is skipped with
// the reason; only an interrupted command fails.
func (v *validateCommand) score(ctx context.Context, all []predictor) (*report.Score, error) {
	bar := v.progress(len(all), "predicting")
	err := inParallel(ctx, v.jobs, len(all), func(i int) error {
		p := &all[i]
		if p.predict != nil {
			if err := guarded(func(int) error { return p.predict(ctx, &p.row) }, i); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				p.row.Skipped = err.Error()
			}
		}
		return bar.Add(1)
	})
	if err != nil {
		return nil, err
	}
	rows := make([]report.Scored, len(all))
	for i := range all {
		rows[i] = all[i].row
	}
	return report.NewScore(rows), bar.Finish()
}

// draw writes the figure of predicted against measured times.
func (v *validateCommand) draw(score *report.Score) error {
	var points []plots.Point
	for i := range score.Rows {
		if r := &score.Rows[i]; r.Measured != nil && r.Predicted != nil {
			points = append(points, plots.Point{Measured: *r.Measured, Predicted: *r.Predicted, Family: r.Family})
		}
	}
	fig, err := plots.Scatter(points, "step time (s)", plots.Options{})
	if err != nil {
		return err
	}
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(v.plot)), ".")
	err = v.writeFile(v.plot, func(w io.Writer) error { return fig.Encode(w, format) })
	if err == nil {
		v.notef("wrote %s", v.plot)
	}
	return err
}
