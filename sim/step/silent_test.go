package step_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/model"
	"trainsim/sim/step"
)

// anyConfig draws a job of any accepted combination of how it is parallel with
// attention, schedule, recomputation, precision, framework and the rest.
func anyConfig(t *testing.T, r *rand.Rand) *job.Config {
	pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
	flag := func() bool { return r.IntN(2) == 1 }
	for {
		n := func(xs ...int) int { return xs[r.IntN(len(xs))] }
		p := job.Parallel{
			TP: n(1, 2, 4), PP: n(1, 2), DP: n(1, 2, 4), CP: n(1, 2, 4), EP: n(1, 1, 2), ZeRO: n(0, 1, 2, 3),
		}
		p.SequenceParallel, p.OverlapTP, p.CPComm = flag() && p.TP > 1, flag(), pick("", "p2p", "a2a")
		p.OverlapGradReduce, p.OverlapParamGather = flag(), flag()
		if p.DP > 1 && p.ZeRO >= 2 && flag() {
			p.FSDPGroup = p.DP / 2
		}
		if p.FSDPGroup == 1 {
			p.FSDPGroup = 0
		}
		c := jobtest.Small(t, p, pick("gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "pipedream-2bw"), 4)
		if p.PP == 1 {
			c.Schedule.Kind = "1f1b"
		}
		if c.Schedule.Kind == "interleaved" || c.Schedule.Kind == "zb-v" {
			c.Schedule.VirtualStages = 2
		}
		m := &c.Model
		m.Attention = model.AttentionKind(pick("flash", "flash1", "flash2", "unfused"))
		m.TieEmbeddings, m.Bidirectional, m.Bare = flag(), flag(), r.IntN(4) == 0
		m.KVHeads = []int64{16, 4, 1}[r.IntN(3)]
		if r.IntN(3) == 0 {
			m.Experts, m.ExpertsPerToken, m.LinearBias, p.ETP = 8, 2, false, n(0, 1)
		}
		if r.IntN(4) == 0 {
			m.KVHeads, m.HeadDim, m.KVLoraRank, m.RopeHeadDim, m.QKVBias = 16, 64, 128, 32, false
		}
		if r.IntN(5) == 0 {
			c.LoRA = model.LoRA{Rank: 8, Targets: pick("all", "attention", "mlp"), Base: pick("16bit", "4bit")}
		}
		c.Training.Precision = pick("bf16", "fp16", "fp32", "fp8")
		c.Training.Recompute = pick("none", "selective", "full", "every-n")
		c.Training.RecomputeN, c.Training.Dropout = 2, flag()
		jobtest.SetFramework(t, c, pick("none", "megatron", "deepspeed", "eager", "compiled"))
		c.Host.LaunchBlocking = r.IntN(4) == 0
		c.NCCL.Model = pick("nccl", "ideal")
		m.Complete()
		if m.Validate() == nil && len(c.Misfits()) == 0 {
			return c
		}
	}
}

// TestNoDimensionIsFree: whatever is accepted, the ranks of every parallel
// dimension exchange something.
func TestNoDimensionIsFree(t *testing.T) {
	for seed := range jobtest.Cases(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := anyConfig(t, sim.NewRand(seed, "free"))
			bytes := map[string]int64{}
			for _, x := range run(t, c, step.Options{Fold: true}).Comms {
				bytes[x.Group] += x.Bytes
			}
			p := &c.Parallel
			for group, d := range map[string]int{"tp": p.TP, "cp": p.CP, "pp": p.PP, "dp": p.DP, "ep": p.EP} {
				if d > 1 {
					assert.Positive(t, bytes[group], "%s %+v %+v", group, *p, c.Model)
				}
			}
		})
	}
}
