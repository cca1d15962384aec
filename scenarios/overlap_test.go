package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Cutting tensor-parallel collectives into pieces beside the products pays: what
// multiprocessors they take is less than what they hide.
func TestOverlapPays(t *testing.T) {
	for _, cluster := range []string{"dgx-a100", "dgx-h100"} {
		sets := []string{"cluster.preset=" + cluster, "schedule.microbatches=8"}
		apart := simulate(t, "70b-tp4-pp2", sets...)
		beside := simulate(t, "70b-tp4-pp2", append(sets, "parallel.overlap_tp=true")...)
		assert.Less(t, beside.StepTime, apart.StepTime, cluster)
	}
}
