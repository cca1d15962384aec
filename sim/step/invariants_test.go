package step_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/schedule/kinds"
	"trainsim/sim"
	"trainsim/sim/job"
	"trainsim/sim/job/jobtest"
	"trainsim/sim/step"
	"trainsim/sim/trace"
)

// The books close on every run: a stage's seconds are the step, streams do not
// overlap themselves, links stay below their capacity, memory comes back to
// where it was, and all started work ends.
func TestInvariantsOfRandomJobs(t *testing.T) {
	for seed := range jobtest.Cases(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := jobtest.Random(t, sim.NewRand(seed, "invariants"))
			res := run(t, c, step.RecordAll(seed%2 == 0))
			for s, b := range res.Stages {
				sum := booked(b)
				assert.Equal(t, res.StepTime, sum, "stage %d", s)
			}
			checkLanes(t, res.Recording)
			for _, l := range res.Links {
				assert.LessOrEqual(t, l.Utilisation, 1+1e-9, l.Name)
			}
			checkMemory(t, res)
		})
	}
}

// checkLanes asserts that compute streams and actions never overlap themselves.
func checkLanes(t *testing.T, r *trace.Recording) {
	ends := make([]sim.Time, len(r.Lanes))
	for s := range r.Spans {
		require.LessOrEqual(t, s.Start, s.End)
		if k := r.Lanes[s.Lane].Stream; k == trace.Compute || k == trace.Actions {
			require.LessOrEqual(t, ends[s.Lane], s.Start, "lane %d", s.Lane)
			ends[s.Lane] = s.End
		}
	}
}

// checkMemory asserts that a steady step leaves as many bytes as it found.
func checkMemory(t *testing.T, res *step.Result) {
	r := res.Recording
	first, last := make(map[int32]int64), make(map[int32]int64)
	for _, s := range r.Samples() {
		assert.GreaterOrEqual(t, s.Value, int64(0))
		if _, ok := first[s.Counter]; !ok {
			first[s.Counter] = s.Value
		}
		last[s.Counter] = s.Value
	}
	for id, c := range r.Counters {
		if c.Kind == trace.MemoryByKind {
			assert.Equal(t, first[int32(id)], last[int32(id)], "%s of rank %d", c.Name, c.Rank)
		}
	}
	for i := range res.Memory {
		m := &res.Memory[i]
		assert.LessOrEqual(t, m.PeakAllocated, m.PeakReserved)
		assert.LessOrEqual(t, m.PeakReserved, m.NvidiaSMI())
	}
}

// Two runs of one job record the same bytes.
func TestDeterminism(t *testing.T) {
	record := func() []byte {
		c := jobtest.Small(
			t, job.Parallel{TP: 2, PP: 2, DP: 4, SequenceParallel: true, ZeRO: 1, OverlapGradReduce: true}, "1f1b",
			8,
		)
		var b bytes.Buffer
		require.NoError(t, trace.WriteChrome(&b, run(t, c, step.RecordAll(true)).Recording))
		return b.Bytes()
	}
	assert.True(t, bytes.Equal(record(), record()))
}

// Recording all ranks, or one of each stage, changes nothing but the recording.
func TestRecordingDoesNotChangeTheRun(t *testing.T) {
	c := jobtest.Small(t, job.Parallel{TP: 2, PP: 4, DP: 2}, "1f1b", 8)
	a, b := run(t, c, step.Options{}), run(t, c, step.RecordAll(true))
	assert.Equal(t, a.StepTime, b.StepTime)
	assert.Equal(t, a.Stages, b.Stages)
}

// More micro-batches never make the bubble's share larger.
func TestBubbleShrinksWithMicrobatches(t *testing.T) {
	last := float64(4)
	for _, m := range []int{1, 2, 4, 8, 16} {
		res := run(t, jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, "1f1b", m), step.Options{})
		var sum sim.Time
		for _, s := range res.Stages {
			sum += idle(s)
		}
		share := sum.Seconds() / res.StepTime.Seconds()
		assert.LessOrEqual(t, share, last)
		last = share
	}
}

// Every schedule of package schedule runs in the simulation without deadlock.
func TestEverySchedule(t *testing.T) {
	for _, k := range kinds.All() {
		t.Run(k.Name, func(t *testing.T) {
			c := jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, k.Name, 16)
			c.Schedule.VirtualStages = 0
			res, err := step.Run(context.Background(), c, step.Options{})
			require.NoError(t, err)
			checkMemory(t, res)
		})
	}
}

// No tensor of a micro-batch outlives its step: between steps there are only
// weights, gradients and optimizer state.
func TestNothingStaysBehind(t *testing.T) {
	for _, k := range kinds.All() {
		c := jobtest.Small(t, job.Parallel{TP: 1, PP: 4, DP: 1}, k.Name, 16)
		c.Schedule.VirtualStages = 0
		res := run(t, c, step.Options{})
		last := make(map[int32]int64)
		for _, s := range res.Recording.Samples() {
			last[s.Counter] = s.Value
		}
		for id, n := range last {
			switch res.Recording.Counters[id].Name {
			case memory.Activations.String(), memory.Temporaries.String():
				assert.Less(
					t, n, int64(64<<20), "%s: %s of rank %d", k.Name, res.Recording.Counters[id].Name,
					res.Recording.Counters[id].Rank,
				)
			}
		}
	}
}
