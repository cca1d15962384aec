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
)

// The snapshot holds the peak's bytes, and its history ends there.
func TestSnapshotAtPeak(t *testing.T) {
	j, err := job.Build(context.Background(), jobtest.Eager(t), account.Peaks)
	require.NoError(t, err)
	ranks, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	s, err := account.Snapshot(j, 0, true)
	require.NoError(t, err)
	inUse := activeBlocks(s)
	assert.Equal(t, ranks[0].PeakAllocated, sum(inUse))
	assert.Equal(t, inUse, tracedBlocks(s))
}

// A job that fails leaves the allocator as the failing request met it.
func TestSnapshotAtAFailure(t *testing.T) {
	c := jobtest.Eager(t)
	c.Evaluation = job.Evaluation{Batches: 2, BatchSize: 128, KeepActivations: true}
	c.GPU.Memory /= 2
	j, err := job.Build(context.Background(), c, account.Peaks)
	require.NoError(t, err)
	ranks, err := account.Replay(context.Background(), j, false)
	require.NoError(t, err)
	require.NotNil(t, ranks[0].OOM)
	s, err := account.Snapshot(j, 0, true)
	require.NoError(t, err)
	trace := s.Traces[0]
	assert.Equal(t, memory.ActionOOM, trace[len(trace)-1].Action)
	inUse := activeBlocks(s)
	assert.Equal(t, ranks[0].OOM.Err.Allocated, sum(inUse))
	assert.Equal(t, inUse, tracedBlocks(s))
	var reserved int64
	for i := range s.Segments {
		reserved += s.Segments[i].Size
	}
	assert.Equal(t, ranks[0].OOM.Err.Reserved, reserved)
}

// activeBlocks is what a snapshot's segments have in use, bytes by address.
func activeBlocks(s *memory.Snapshot) map[int64]int64 {
	out := make(map[int64]int64)
	for i := range s.Segments {
		for _, b := range s.Segments[i].Blocks {
			if b.State != memory.Inactive {
				out[b.Addr] = b.Size
			}
		}
	}
	return out
}

// tracedBlocks is what a snapshot's trace leaves in use, with the bytes of the
// segments' blocks: the trace has what was asked for.
func tracedBlocks(s *memory.Snapshot) map[int64]int64 {
	size, out := make(map[int64]int64), make(map[int64]int64)
	for i := range s.Segments {
		for _, b := range s.Segments[i].Blocks {
			size[b.Addr] = b.Size
		}
	}
	for _, e := range s.Traces[0] {
		switch e.Action {
		case memory.ActionAlloc:
			out[e.Addr] = size[e.Addr]
		case memory.ActionFreeCompleted:
			delete(out, e.Addr)
		}
	}
	return out
}

func sum(blocks map[int64]int64) (bytes int64) {
	for _, n := range blocks {
		bytes += n
	}
	return bytes
}
