package step_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
)

// What is explained of the activations adds up to those of the account, also
// where chunks have their most at different times and where the gradients of
// weights come late.
func TestExplainedActivationsAddUp(t *testing.T) {
	for _, s := range []struct {
		kind, recompute string
		chunks          int
	}{
		{"1f1b", "none", 1}, {"gpipe", "none", 1}, {"interleaved", "none", 2}, {"zb-h1", "none", 1},
		{"zb-h1", "full", 1}, {"zb-v", "none", 2}, {"dualpipev", "none", 2},
	} {
		t.Run(s.kind+" "+s.recompute, func(t *testing.T) {
			c := jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 2, ZeRO: 1}, s.kind, 8)
			c.Schedule.VirtualStages, c.Training.Recompute = s.chunks, s.recompute
			c.Model.Bare, c.Schedule.MicrobatchSize = true, 4
			j, err := job.Build(context.Background(), c, account.Peaks)
			require.NoError(t, err)
			ranks, err := account.Replay(context.Background(), j, false)
			require.NoError(t, err)
			for r := range ranks {
				var sum int64
				for _, l := range account.Explain(j, r) {
					if l.Kind == memory.Activations && !l.Detail {
						sum += l.Bytes
					}
				}
				assert.InEpsilon(t, ranks[r].AtPeak[memory.Activations], sum, 0.08, "rank %d", r)
			}
		})
	}
}
