package step_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// work is what a stage computes in a step, all micro-batches together.
func work(s step.StageTime) sim.Time { return s.Compute + s.Recompute }

// booked is all that a stage's time is booked to.
func booked(s step.StageTime) sim.Time {
	return work(s) + s.Host + s.Exposed() + s.Optimizer + s.Warmup + s.Cooldown + s.Imbalance
}

func idle(s step.StageTime) sim.Time { return s.Warmup + s.Cooldown + s.Imbalance + s.Comm[trace.PP] }

// Bubble over ideal is (p-1)/m for GPipe and 1F1B with equal stages and free
// communication (Huang et al. 2019; Narayanan et al. 2021), exactly.
func TestBubbleOfEqualStages(t *testing.T) {
	for _, kind := range []string{"gpipe", "1f1b", "eager-1f1b"} {
		for _, p := range []int{1, 2, 4, 8} {
			for _, m := range []int{1, 4, 8, 32} {
				t.Run(fmt.Sprintf("%s/p%d/m%d", kind, p, m), func(t *testing.T) {
					res := run(
						t, jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: p, DP: 1}, kind, m)),
						step.Options{},
					)
					for _, s := range res.Stages {
						assert.Equal(t, work(s)*sim.Time(p-1), idle(s)*sim.Time(m))
					}
				})
			}
		}
	}
}

// Interleaving v virtual stages divides the bubble by v: (p-1)/(v m) of ideal.
func TestBubbleOfInterleavedStages(t *testing.T) {
	for _, v := range []int{2, 4} {
		c := jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: 2, DP: 1}, "interleaved", 8))
		c.Schedule.VirtualStages = v
		res := run(t, c, step.Options{})
		for _, s := range res.Stages {
			assert.Equal(t, work(s), idle(s)*sim.Time(8*v))
		}
	}
}

// GPipe holds all m micro-batches on the first stage, 1F1B min(p-s, m).
func TestActivationsInFlight(t *testing.T) {
	one := activations(t, "gpipe", 1)[0]
	for s, n := range activations(t, "gpipe", 8) {
		assert.Equal(t, 8*one, n, "gpipe stage %d", s)
	}
	for s, n := range activations(t, "1f1b", 8) {
		assert.Equal(t, int64(4-s)*one, n, "1f1b stage %d", s)
	}
}

// activations returns the largest activation counter of each of four stages.
func activations(t *testing.T, kind string, m int) []int64 {
	res := run(t, jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, kind, m)), step.Options{})
	most := make([]int64, 4)
	for _, s := range res.Recording.Samples() {
		if c := res.Recording.Counters[s.Counter]; c.Name == memory.Activations.String() {
			most[c.Stage] = max(most[c.Stage], s.Value)
		}
	}
	return most
}

// One micro-batch keeps three of four stages idle at any time.
func TestOneMicrobatch(t *testing.T) {
	res := run(t, jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, "gpipe", 1)), step.Options{})
	require.Len(t, res.Stages, 4)
	for _, s := range res.Stages {
		assert.Equal(t, 3*work(s), idle(s))
	}
}

// An asynchronous schedule has no bubble in its steady state: a stage's step
// is its work, its updates and, on the slowest stages, nothing else.
func TestAsynchronousSchedulesHaveNoBubble(t *testing.T) {
	for _, kind := range []string{"pipedream", "pipedream-2bw"} {
		res := run(t, jobtest.Bare(jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, kind, 8)), step.Options{})
		for s, b := range res.Stages {
			assert.LessOrEqual(t, idle(b)*200, res.StepTime, "%s stage %d", kind, s)
		}
	}
}

// Overlapped pairs hide the collectives of one half behind the other half.
func TestPairsHideCommunication(t *testing.T) {
	exposed := func(kind string) sim.Time {
		c := jobtest.Small(t, job.Parallel{TP: 4, PP: 2, DP: 1, SequenceParallel: true}, kind, 8)
		c.Schedule.VirtualStages = 0
		return run(t, c, step.Options{}).Stages[0].Comm[trace.TP]
	}
	assert.Less(t, exposed("dualpipev"), exposed("zb-v"))
}
