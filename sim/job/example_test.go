package job_test

import (
	"fmt"

	"trainsim/sim/job"
)

// Tensor-parallel ranks are neighbours, stages lie farthest apart.
func ExampleParallel_Coord() {
	p := job.Parallel{TP: 4, CP: 1, DP: 2, PP: 2}
	for _, rank := range []int{3, 4, 8} {
		c := p.Coord(rank)
		fmt.Println(rank, "tp", c.TP, "dp", c.DP, "pp", c.PP)
	}
	// Output:
	// 3 tp 3 dp 0 pp 0
	// 4 tp 0 dp 1 pp 0
	// 8 tp 0 dp 0 pp 1
}
