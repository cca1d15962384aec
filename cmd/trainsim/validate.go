package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/scenarios/measured"
	"trainsim/sim/report"
	"trainsim/sim/report/text"
	"trainsim/sim/search"
)

// validateCommand is `trainsim validate`.
type validateCommand struct {
	*app
	plot    string
	jobs    int
	gpu     string
	cluster string
}

// newValidateCommand is `trainsim validate`.
func newValidateCommand(a *app) *cobra.Command {
	v := &validateCommand{app: a}
	cmd := &cobra.Command{
		Use:   "validate FILE.csv...",
		Short: "Score predictions against measurements",
		Long: `validate predicts what was measured and prints the error of each row and of
each family of rows. It knows by the header what a file holds: training runs,
peak memory of single ranks, collectives, matrix products or attention kernels.
A row that cannot be predicted is listed with the reason and counts as missed by
all of it; where that is every row, it is an error. "-" is stdin.

A table of rank memory needs the columns model (a preset), layers, seq,
microbatches, tp, pp, dp, rank and max_allocated_mb or max_reserved_mb (MiB, as
PyTorch's two figures); cells of layers and microbatches may be empty for the
preset's layers and pp. Other columns of a table of runs may be there; a cell
that is empty or missing is a Megatron-Core job's: distributed optimizer, bf16,
1F1B, sequence parallel with tensor parallel, no recomputation, one sequence a
micro-batch, on ` + measured.RankMemoryCluster + ` (or --cluster).

A table of training runs has these columns, in any order; those with a star it
must have:
` + runColumns(),
		Example: `  trainsim validate runs.csv
  trainsim validate rank_memory.csv --plot memory.png
  trainsim validate gemm.csv attention.csv --json
  trainsim validate runs.csv --plot runs.png`,
		Args: cobra.MinimumNArgs(1),
		RunE: v.run,
	}
	a.jsonFlag(cmd)
	cmd.Flags().StringVar(&v.plot, "plot", "", "draw predicted against measured to `FILE` (.png, .svg or .pdf)")
	cmd.Flags().StringVar(&v.gpu, "gpu", "",
		"predict kernels with the device preset `NAME`, whatever GPU the table names")
	cmd.Flags().StringVar(&v.cluster, "cluster", "",
		"predict collectives and rank memory on the cluster preset `NAME`, whatever machine the table names")
	cmd.Flags().IntVar(&v.jobs, "jobs", 0, "predict `N` rows at a time; 0 is one a core")
	return cmd
}

// runColumns lists the columns of a table of runs for the help text.
func runColumns() string {
	var b strings.Builder
	for _, c := range measured.RunColumns() {
		star := " "
		if c.Required {
			star = "*"
		}
		text := c.Text
		if len(c.Values) > 0 {
			text += " (" + strings.Join(c.Values, ", ") + ")"
		}
		fmt.Fprintf(&b, "  %s%-20s  %s\n", star, c.Name, text)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (v *validateCommand) run(cmd *cobra.Command, args []string) error {
	if err := checkFigure(v.plot); err != nil {
		return err
	}
	var all []measured.Row
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
	} else if score.Predicted() > 0 {
		err = text.Score(v.stdout, score)
	}
	switch {
	case err != nil:
		return err
	case score.Predicted() == 0:
		return nothingScored(args, score)
	case v.plot == "":
		return nil
	}
	return v.draw(score)
}

// nothingScored is the error of tables of which no row can be predicted.
func nothingScored(files []string, score *report.Score) error {
	if len(score.Rows) == 0 {
		return badInput(fmt.Errorf("%s: there is no row to score", strings.Join(files, ", ")))
	}
	return badInput(fmt.Errorf("there is nothing to score: all rows (%d) are skipped\n%s", len(score.Rows),
		text.Skipped(score)))
}

// read reads a table.
func (v *validateCommand) read(path string) ([]measured.Row, error) {
	text, err := v.readFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	name := path
	if path == "-" {
		name = "standard input"
	}
	rows, err := measured.Read(text, name, measured.Options{GPU: v.gpu, Cluster: v.cluster})
	if err != nil {
		return nil, badInput(err)
	}
	return rows, nil
}

// score predicts all rows, several at a time, and scores them.
func (v *validateCommand) score(ctx context.Context, rows []measured.Row) (*report.Score, error) {
	bar := v.progress(len(rows), "predicting")
	err := measured.Predict(ctx, rows, func(ctx context.Context, n int, do func(int) error) error {
		return search.InParallel(ctx, v.jobs, n, func(i int) error {
			if err := do(i); err != nil {
				return err
			}
			return bar.Add(1)
		})
	})
	if err == nil {
		err = bar.Finish()
	}
	if err != nil {
		return nil, err
	}
	return measured.NewScore(ctx, rows, func(ctx context.Context, n int, do func(int) error) error {
		return search.InParallel(ctx, v.jobs, n, do)
	})
}

// draw writes the figure of predictions over measurements.
func (v *validateCommand) draw(score *report.Score) error {
	fig, err := plots.Scatter(plots.ScoreOf(score.Rows), chart.Options{})
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
