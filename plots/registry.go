package plots

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"trainsim/plots/chart"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

// Document is what a figure is drawn of, by the command that makes it.
type Document string

// Documents that have figures.
const (
	OfRun        Document = "run"
	OfComparison Document = "compare"
	OfSweep      Document = "sweep"
	OfPlan       Document = "plan"
	OfScore      Document = "validate"
	OfSchedule   Document = "schedule"
	OfCollective Document = "collective"
	OfTopology   Document = "topo"
)

// Data is a document: the field of its kind is filled, the others are empty.
type Data struct {
	Run      *report.Run
	Cases    []report.Case
	Sweep    SweepChart
	Plan     *report.Plan
	Score    ScoreChart
	Schedule ScheduleChart
	Curves   []Curve
	Topology TopologyChart
}

// Entry is a figure of the registry.
type Entry struct {
	Name    string // of its file, without the ending
	Of      Document
	Caption string // what it shows, as the heading over it
	draw    drawing
}

// drawing draws a figure of a document.
type drawing func(*Data, chart.Options) (*chart.Figure, error)

// Draw draws the figure of a document of its kind. One that has no data for it is
// a [chart.Empty] error.
func (e *Entry) Draw(d *Data, o chart.Options) (*chart.Figure, error) { return e.draw(d, o) }

// registry lists all figures; those of one document are in the order in which
// they are written and read.
var registry = []Entry{
	{"pipeline", OfRun, "What the pipeline does over the step", ofRun(pipeline)},
	{"breakdown", OfRun, "Where the step of each stage goes", ofRun(breakdown)},
	{"memory-stages", OfRun, "What fills each stage's memory at its peak", ofRun(memoryStages)},
	{"memory", OfRun, "Memory over the step", ofRun(memory)},
	{"allocator", OfRun, "What the fullest GPU's allocator holds, address by address", ofRun(allocator)},
	{"links", OfRun, "Links over the step", ofRun(links)},
	{"compare", OfComparison, "Where the steps of several runs go, and their memory", ofCases(compare)},
	{"compare-pipelines", OfComparison, "Pipelines of several runs on one time axis", ofCases(comparePipelines)},
	{"sweep", OfSweep, "Time, bubble and peak memory over what is varied",
		func(d *Data, o chart.Options) (*chart.Figure, error) { return drawSweep(d.Sweep, o) }},
	{"plan", OfPlan, "Step time against memory, and where the steps of the fastest layouts go",
		func(d *Data, o chart.Options) (*chart.Figure, error) { return plan(d.Plan, o) }},
	{"score", OfScore, "Predictions over measurements",
		func(d *Data, o chart.Options) (*chart.Figure, error) { return Scatter(d.Score, o) }},
	{"schedule", OfSchedule, "A schedule on the ranks of its pipeline",
		func(d *Data, o chart.Options) (*chart.Figure, error) { return Schedule(d.Schedule, o) }},
	{"busbw", OfCollective, "Bus bandwidth over the size of the message",
		func(d *Data, o chart.Options) (*chart.Figure, error) { return BusBW(d.Curves, o) }},
	{"topology", OfTopology, "A node's devices and the ways between them",
		func(d *Data, o chart.Options) (*chart.Figure, error) { return Topology(d.Topology, o) }},
}

func ofRun(draw func(*report.Run, chart.Options) (*chart.Figure, error)) drawing {
	return func(d *Data, o chart.Options) (*chart.Figure, error) {
		run := *d.Run
		if run.Recording == nil {
			run.Recording = &trace.Recording{}
		}
		return draw(&run, o)
	}
}

func ofCases(draw func([]report.Case, chart.Options) (*chart.Figure, error)) drawing {
	return func(d *Data, o chart.Options) (*chart.Figure, error) { return draw(d.Cases, o) }
}

// Registry returns all figures, or those of some documents.
func Registry(of ...Document) []Entry {
	var out []Entry
	for _, e := range registry {
		if len(of) == 0 || slices.Contains(of, e.Of) {
			out = append(out, e)
		}
	}
	return out
}

// WriteRun draws the figures of a run into dir, which it makes, under the ending
// in o.Format, and returns the paths. Figures for which the run holds no data
// (no link counters, no spans in a run that ran out of memory at start) are
// left out. The first figure that cannot be written is an error, together with
// the paths written before it.
func WriteRun(dir string, run *report.Run, o chart.Options) ([]string, error) {
	o, err := o.Resolve()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("plots: cannot make %s: %w", dir, err)
	}
	var paths []string
	for _, e := range Registry(OfRun) {
		fig, err := e.Draw(&Data{Run: run}, o)
		if errors.As(err, new(chart.Empty)) {
			continue
		}
		path := filepath.Join(dir, e.Name+"."+o.Format)
		if err == nil {
			err = fig.Save(path)
		} else {
			err = fmt.Errorf("%s: %w", e.Name, err)
		}
		if err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
