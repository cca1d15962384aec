package timeline_test

import (
	"fmt"

	"trainsim/plots/timeline"
	"trainsim/sim/trace"
)

// A peak that lasts a millionth of the step is not lost.
func ExamplePeaks() {
	var r trace.Recording
	c := r.AddCounter(trace.Counter{Kind: trace.MemoryByKind, Name: "weights"})
	r.Set(0, c, 10)
	r.Set(500_000, c, 30)
	r.Set(500_001, c, 10)
	l := timeline.Peaks(&r, []int{0}, 1, 1, 1_000_000)
	fmt.Println(l.Value[0][0], l.Value[0][timeline.Columns/2], l.Value[0][timeline.Columns-1])
	// Output: 10 30 10
}
