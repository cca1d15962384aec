package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/sim/account"
	"trainsim/sim/job"
)

// TestLeastMemory: whatever a fix changes, no account is below the bound by which
// it is left out.
func TestLeastMemory(t *testing.T) {
	tried := 0
	for _, name := range []string{
		"1b-static", "7b-dp8-8x24gb", "7b-pp8-8x24gb", "13b-tp2-pp4-nvlink", "70b-lora-8xa800",
		"evaluation-with-graph", "fragmentation-lengths", "prefetch-32x8", "pp4-chunks-8-zb-v", "bert-large-no-checkpoints",
	} {
		cfg, err := scenarios.Load(name)
		require.NoError(t, err, name)
		cfg.Model.Layers = min(cfg.Model.Layers, 16)
		for _, c := range candidates(cfg) {
			v := *cfg
			if !c.apply(&v) || len(v.Misfits()) > 0 {
				continue
			}
			v.GPU.Memory = 1 << 50
			j, err := job.Build(t.Context(), &v, account.Peaks)
			if err != nil {
				continue
			}
			accounts, err := account.Replay(t.Context(), j, false)
			require.NoError(t, err)
			least, err := leastMemory(&v)
			require.NoError(t, err)
			fullest := accounts[account.Fullest(accounts)].NvidiaSMI()
			require.LessOrEqual(t, least, fullest, "%s, %s = %v", name, c.key, c.value)
			tried++
		}
	}
	require.Greater(t, tried, 40)
}
