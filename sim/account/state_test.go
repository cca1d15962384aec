package account_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
)

// The account holds the formula's bytes, plus rounding to the allocator's
// blocks.
func TestAccountHoldsTheFormula(t *testing.T) {
	for _, c := range []struct {
		precision, grads string
		zero, dp         int
	}{
		{"fp16", "fp16", 0, 1}, {"bf16", "fp32", 0, 2}, {"fp32", "fp32", 0, 1}, {"fp16", "fp16", 1, 4},
		{"bf16", "fp32", 1, 8},
	} {
		cfg := jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: 1, DP: c.dp, ZeRO: c.zero}, "1f1b", 1))
		cfg.GPU = jobtest.Device(t, "a100-sxm4-80gb")
		jobtest.SetFramework(t, cfg, "megatron")
		cfg.Training.Precision, cfg.Training.GradPrecision = c.precision, c.grads
		j, err := job.Build(context.Background(), cfg, account.Peaks)
		require.NoError(t, err)
		ranks, err := account.Replay(context.Background(), j, false)
		require.NoError(t, err)
		want := j.State.Mean(j.DP.Ranks).Kept() * float64(
			cfg.Model.ParametersOf(model.Run{Layers: int(cfg.Model.Layers)}),
		)
		m := &ranks[0]
		got := float64(m.AtPeak[memory.Weights] + m.AtPeak[memory.Gradients] + m.AtPeak[memory.Optimizer])
		assert.InEpsilon(t, want, got, 0.01, "%+v", c)
	}
}
