package measured

import (
	"context"
	"path/filepath"

	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// trainingRun is one measured training run: a row of a table of runs.
type trainingRun struct {
	// ID names the row; Family is the part before its last dash.
	ID, Family string
	// Quality is the table's word for how well the row is known, "A" or "B".
	Quality string
	// Config is the job of the row; nil where Skipped says why there is none.
	Config *job.Config
	// Seconds is the measured time of a step, 0 where none was published.
	Seconds float64
	// MemoryBytes is the measured peak of the fullest GPU, 0 where none was
	// published, and MemoryMetric says which figure it is.
	MemoryBytes  int64
	MemoryMetric memoryMetric
	// OOM says that the run ran out of memory.
	OOM bool
	// Skipped says why the row cannot be run, with its place in the file;
	// empty where it can.
	Skipped string
}

// runRows reads a table of training runs.
func runRows(text []byte, name string) ([]Row, error) {
	runs, err := readRuns(text, name)
	if err != nil {
		return nil, err
	}
	out := make([]Row, len(runs))
	for i := range runs {
		out[i] = runs[i].row()
	}
	return out, nil
}

// row makes the row of a measured run.
func (run *trainingRun) row() Row {
	r := Row{Scored: report.Scored{
		ID: run.ID, Family: run.Family, Quality: run.Quality, MemoryMetric: string(run.MemoryMetric),
		OutcomeMeasured: report.OutcomeOK, Skipped: run.Skipped,
	}}
	if run.OOM {
		r.OutcomeMeasured = report.OutcomeOOM
	}
	if run.Seconds > 0 {
		r.Measured = &run.Seconds
	}
	if run.MemoryBytes > 0 {
		r.MeasuredBytes = &run.MemoryBytes
	}
	if run.Config != nil {
		r.config = run.Config
		r.predict = func(ctx context.Context, s *report.Scored) error {
			res, err := step.Run(ctx, run.Config, step.Options{NoRecording: true, Fold: true})
			if err == nil {
				s.Predict(res)
			}
			return err
		}
	}
	return r
}

// readRuns reads a table of measured training runs, with the columns of
// [RunColumns]. A header or quoting that is wrong is an [*input.Errors]; a row
// that is wrong, or whose job cannot be run, is returned with Skipped set.
func readRuns(text []byte, name string) ([]trainingRun, error) {
	t, err := openTable(text, name)
	if err == nil {
		err = t.check(runColumns, "runs")
	}
	if err != nil {
		return nil, err
	}
	known := presets{dir: filepath.Dir(name)}
	var out []trainingRun
	err = t.each(func(r *record) { out = append(out, r.run(&known)) })
	return out, err
}
