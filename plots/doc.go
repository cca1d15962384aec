// Package plots draws the figures of a run from its recording and its report
// alone, so that a saved run can be redrawn at any time, and those of the other
// documents: comparisons, sweeps, plans, scores, schedules, topologies.
//
// Each figure is a function that takes the data and [chart.Options] and returns a
// [chart.Figure], which is saved as PNG, SVG or PDF by the ending of the file's
// name. The registry lists them by the document that they are drawn of: the
// commands that write a document draw what it lists. All computation happens
// before drawing: a figure that cannot be drawn is an error, never an empty
// picture, and one for which there is no data a [chart.Empty] one.
//
// What figures are made of is in package chart; package gantt draws pipelines and
// package timeline reduces a recording to what an axis of time can show.
//
// To add a figure, write a file with its function (the data first, then the
// legend, then the body) and add an entry to the registry: its name, its document
// and what stands over it. `run`, `compare`, `plan`, `plot`, `list figures` and a
// review follow; the README says how to read it.
//
// Files in reading order: registry.go, facts.go (titles);
// of a run pipeline.go, breakdown.go, memory.go, memorydraw.go, memorystages.go,
// allocator.go, links.go; of several compare.go, comparepipes.go; sweepchart.go,
// sweep.go, sweepdraw.go; plan.go, planfront.go, plansteps.go; scatter.go, schedule.go,
// busbw.go; topology.go, topologygraph.go.
package plots
