package jobtest_test

import (
	"fmt"
	"testing"

	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
)

func ExampleSmall() {
	c := jobtest.Small(&testing.T{}, job.Parallel{TP: 2, PP: 4, DP: 2}, "1f1b", 8)
	fmt.Println(c.Parallel.World(), "ranks on", c.Cluster.Nodes, "nodes")
	// Output: 16 ranks on 2 nodes
}
