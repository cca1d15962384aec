package plots

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"trainsim/plots/chart"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// WriteAll draws the standard figures of a run (pipeline, memory,
// memory-stages, breakdown, allocator, links) into dir, which it makes, under the ending
// in o.Format, and returns the paths. Figures for which the run holds no data
// (no link counters, no spans in a run that ran out of memory at start) are
// left out. The first figure that cannot be written is an error, together with
// the paths written before it.
func WriteAll(dir string, r *trace.Recording, rep *report.Report, o chart.Options) ([]string, error) {
	o, err := o.Resolve()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("plots: cannot make %s: %w", dir, err)
	}
	if r == nil {
		r = &trace.Recording{}
	}
	var paths []string
	for _, f := range standard {
		fig, err := f.draw(r, rep, o)
		if err != nil {
			if errors.As(err, new(chart.Empty)) {
				continue
			}
			return paths, fmt.Errorf("%s: %w", f.name, err)
		}
		path := filepath.Join(dir, f.name+"."+o.Format)
		if err := fig.Save(path); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// standard is the set of figures of one run.
var standard = []struct {
	name string
	draw func(*trace.Recording, *report.Report, chart.Options) (*chart.Figure, error)
}{
	{"pipeline", Pipeline},
	{"memory", Memory},
	{"memory-stages", func(_ *trace.Recording, rep *report.Report, o chart.Options) (*chart.Figure, error) {
		return MemoryStages(rep, o)
	}},
	{"breakdown", func(_ *trace.Recording, rep *report.Report, o chart.Options) (*chart.Figure, error) {
		return Breakdown(rep, o)
	}},
	{"allocator", Allocator},
	{"links", Links},
}
