package report

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"

	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// runSchema names the version of a saved run.
const runSchema = "trainsim.run/v1"

// Run is a saved run: what it found and what it did. From the two every figure
// can be drawn again.
type Run struct {
	Report    *Report
	Recording *trace.Recording
}

// NewRun is a run with its report. Scenario is the resolved scenario as it should
// stand in the JSON. Advice is what may take long: it is cut short when the context
// is done.
func NewRun(ctx context.Context, res *step.Result, scenario any) *Run {
	return &Run{Report: newReport(ctx, res, scenario), Recording: res.Recording}
}

// Write saves the run as JSON. The same run gives the same bytes.
func (r *Run) Write(w io.Writer) error {
	if r.Report == nil || r.Recording == nil {
		return fmt.Errorf("report: a saved run needs a report and a recording")
	}
	return trace.WriteSaved(w, runSchema, r.Report, r.Recording)
}

// ReadRun reads a saved run, plain or gzipped. Scenario becomes what
// encoding/json makes of it, a map. What is malformed or beyond the limits of
// package trace is an error.
func ReadRun(rd io.Reader) (*Run, error) {
	br := bufio.NewReader(rd)
	rd = br
	if magic, err := br.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		zr, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("report: not a gzip file: %w", err)
		}
		defer zr.Close() //nolint:errcheck // it only reads
		rd = zr
	}
	var rep *Report
	rec, err := trace.ReadSaved(rd, runSchema, &rep)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if rep == nil {
		return nil, fmt.Errorf("report: the saved run's report is null")
	}
	if rep.Schema != Schema {
		return nil, fmt.Errorf("report: the saved report's schema is %.60q; this version reads %q", rep.Schema, Schema)
	}
	return &Run{Report: rep, Recording: rec}, nil
}
