package plots_test

import (
	"fmt"
	"os"
	"path/filepath"

	"trainsim/plots"
	"trainsim/plots/chart"
	"trainsim/sim"
	"trainsim/sim/report"
	"trainsim/sim/trace"
)

func ExampleWriteRun() {
	var r trace.Recording
	lane := r.AddLane(trace.Lane{Rank: 0, Stage: 0, Stream: trace.Actions})
	r.Add(trace.Span{Start: 0, End: 10 * sim.Millisecond, Lane: lane, Kind: trace.Forward})
	r.Add(trace.Span{Start: 10 * sim.Millisecond, End: 30 * sim.Millisecond, Lane: lane, Kind: trace.Backward})
	rep := &report.Report{StepTime: 0.03, TimePerStage: []report.StageTime{{Compute: 0.03, Step: 0.03}}}

	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	paths, err := plots.WriteRun(dir, &report.Run{Report: rep, Recording: &r}, chart.Options{Title: "one GPU", Format: "svg"})
	for _, p := range paths {
		fmt.Println(filepath.Base(p))
	}
	fmt.Println(err)
	// Output:
	// pipeline.svg
	// breakdown.svg
	// <nil>
}
