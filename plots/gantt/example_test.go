package gantt_test

import (
	"fmt"

	"trainsim/plots/gantt"
	"trainsim/sim"
	"trainsim/sim/trace"
)

// A chart of a recording has a row a stage.
func ExamplePipeline() {
	var r trace.Recording
	for stage := range 2 {
		lane := r.AddLane(trace.Lane{Rank: stage, Stage: stage, Stream: trace.Actions})
		start := sim.Time(stage) * sim.Millisecond
		r.Add(trace.Span{Start: start, End: start + sim.Millisecond, Lane: lane, Kind: trace.Forward})
	}
	g, err := gantt.Pipeline(&r)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range g.Rows {
		fmt.Printf("%s: %d box, from %g ms\n", row.Label, len(row.Boxes), 1e3*row.Boxes[0].Start)
	}
	// Output:
	// stage 0 (rank 0): 1 box, from 0 ms
	// stage 1 (rank 1): 1 box, from 1 ms
}
