package job_test

import (
	"fmt"

	"trainsim/sim/job"
)

// Tensor-parallel ranks are neighbours, stages lie farthest apart.
func ExampleParallel_Rank() {
	p := job.Parallel{TP: 4, CP: 1, DP: 2, PP: 2}
	for _, c := range []job.Coord{{TP: 3}, {DP: 1}, {PP: 1}} {
		fmt.Println(p.Rank(c), p.Coord(p.Rank(c)) == c)
	}
	// Output:
	// 3 true
	// 4 true
	// 8 true
}
