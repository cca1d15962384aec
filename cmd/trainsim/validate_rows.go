package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"trainsim/scenarios"
	"trainsim/scenarios/measured"
	"trainsim/sim/gpu"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

// predictor is a row with the work that fills in its prediction.
type predictor struct {
	row     report.Scored
	config  *step.Config                                // of a training run, else nil
	predict func(context.Context, *report.Scored) error // nil for a skipped row
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
	if measured.IsNCCLTests(text) {
		return v.collectives(bytes.NewReader(text), name)
	}
	header, err := csv.NewReader(bytes.NewReader(text)).Read()
	if slices.ContainsFunc(header, isNoName) {
		return nil, badInput(fmt.Errorf("%s: is not a table: its first line is binary data or far too long; write a CSV file with a header line", name))
	}
	for _, f := range formats {
		if err == nil && f.is(header) {
			return f.read(v, bytes.NewReader(text), name)
		}
	}
	return v.runs(bytes.NewReader(text), name)
}

// formats are the tables that a header tells from one of training runs, which
// is what a file is taken for else.
var formats = []struct {
	is   func(header []string) bool
	read func(v *validateCommand, r io.Reader, name string) ([]predictor, error)
}{
	{measured.IsCollectives, (*validateCommand).collectives},
	{gpu.IsMeasurements, (*validateCommand).kernels},
	{measured.IsRankMemory, (*validateCommand).rankMemory},
}

// longestName is how many bytes the name of a column may have.
const longestName = 256

// isNoName says whether what stands in a header cannot be the name of a column.
func isNoName(s string) bool {
	return len(s) > longestName || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) })
}

// runs reads a table of training runs.
func (v *validateCommand) runs(r io.Reader, name string) ([]predictor, error) {
	runs, err := measured.ReadRuns(r, name)
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
func predictRun(run *measured.Run) predictor {
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
		p.config = run.Config
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

// collectives reads a table of measured collectives.
func (v *validateCommand) collectives(r io.Reader, name string) ([]predictor, error) {
	rows, err := measured.ReadCollectives(r, name, v.cluster)
	if err != nil {
		return nil, err
	}
	var comms measured.Communicators
	out := make([]predictor, len(rows))
	for i := range rows {
		c := &rows[i]
		out[i] = timed(c.ID, c.Family, c.Seconds, c.Skipped, func() (float64, error) {
			t, err := comms.Predict(c)
			return t.Seconds(), err
		})
	}
	return out, nil
}

// kernels reads a table of measured kernels.
func (v *validateCommand) kernels(r io.Reader, name string) ([]predictor, error) {
	rows, err := gpu.ReadMeasurements(r, filepath.Base(name))
	if err != nil {
		return nil, badInput(err)
	}
	find := scenarios.FindGPU
	if v.gpu != "" {
		own, err := scenarios.LoadGPU(v.gpu)
		if err != nil {
			return nil, badInput(err)
		}
		find = func(string) (*gpu.Device, error) { return own, nil }
	}
	out := make([]predictor, len(rows))
	for i := range rows {
		m := &rows[i]
		out[i] = timed(m.ID, m.Device+" "+m.Operation, m.Seconds, m.Skipped, func() (float64, error) {
			d, err := find(m.Device)
			if err != nil {
				return 0, err
			}
			return m.Predict(d).Seconds(), nil
		})
	}
	return out, nil
}

// timed makes the row of something that has a time and nothing else.
func timed(id, family string, seconds float64, skipped string, predict func() (float64, error)) predictor {
	p := predictor{row: report.Scored{ID: id, Family: family, Skipped: skipped}}
	if seconds > 0 {
		p.row.Measured = &seconds
	}
	if skipped != "" {
		return p
	}
	p.predict = func(_ context.Context, s *report.Scored) error {
		t, err := predict()
		if err == nil && !(t > 0) {
			err = errors.New("the prediction is not a positive time")
		}
		if err == nil {
			s.Predicted = &t
		}
		return err
	}
	return p
}
