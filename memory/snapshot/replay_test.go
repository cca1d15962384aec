package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/memory"
)

// replayOf records a random workload, writes it, reads it back and replays it
// under its own settings.
func replayOf(t *testing.T, w *recordedRun, steps, keep int) *Replay {
	for range steps {
		w.step()
	}
	s := w.a.Snapshot()
	s.Traces[0] = s.Traces[0][max(0, len(s.Traces[0])-keep):]
	s, err := readSnapshot(bytes.NewReader(pickled(t, s)))
	require.NoError(t, err)
	out := replayed(t, s, Options{Capacity: w.capacity, Fraction: min(w.fraction, 1)})
	require.Zero(t, out.Unmatched)
	return out
}

// TestReplayReproduces: the replay reserves and allocates exactly what the
// original did, at every moment. Two things a trace does not show are left
// out: whether the cache was emptied or an allocation released a part of it,
// and whether a free waited when nothing lies between request and completion.
func TestReplayReproduces(t *testing.T) {
	for seed, conf := range recordedConfs {
		for repeat := range 3 {
			t.Run(fmt.Sprintf("%s/%d", conf, repeat), func(t *testing.T) {
				w := newRecordedRun(t, uint64(seed+100*repeat)*2, conf)
				w.keeps, w.alone = w.releases(), true
				out := replayOf(t, w, 3000, math.MaxInt)
				require.Equal(t, w.ooms, out.Recorded.OOMs)
				require.Equal(t, w.ooms, out.OOMCount)
				require.Zero(t, out.AvoidedOOMs)
				require.Zero(t, out.Recorded.MaxDifference)
				require.Equal(t, out.Allocs-w.ooms, out.Recorded.Same)
				require.Equal(t, w.a.PeakAllocated(), out.Stats.AllocatedBytes.All.Peak)
				require.Equal(t, w.a.PeakReserved(), out.Stats.ReservedBytes.All.Peak)
				require.Equal(t, shape(w.a.Segments()), shape(out.Final))
				require.Equal(t, shape(w.a.SegmentsAtPeak()), shape(out.Peak))
			})
		}
	}
}

// TestReplayWithEvents allows blocks that wait for other streams; nine in ten
// allocations must still find the reserve as it was.
func TestReplayWithEvents(t *testing.T) {
	for seed, conf := range recordedConfs {
		w := newRecordedRun(t, uint64(seed)*2, conf)
		w.keeps = w.releases()
		out := replayOf(t, w, 3000, math.MaxInt)
		require.Equal(t, w.ooms, out.Recorded.OOMs)
		require.GreaterOrEqual(t, out.Recorded.Same*10, (out.Allocs-w.ooms)*9, conf)
	}
}

// shape is a listing without addresses and kinds.
func shape(segments []memory.Segment) string {
	var b strings.Builder
	for _, s := range segments {
		fmt.Fprintln(&b, s.Size, s.Stream, s.Small, s.Expandable)
		for _, x := range s.Blocks {
			fmt.Fprintln(&b, " ", x.Size, x.Requested, x.State)
		}
	}
	return b.String()
}

// TestReplayFromTheMiddle cuts the beginning of a trace off, as PyTorch's
// ring buffer does, and replays the rest from the state that it implies. The
// sizes of blocks that were freed since are not in the file, so that a few
// replays drift.
func TestReplayFromTheMiddle(t *testing.T) {
	runs, exact := 0, 0
	for seed, conf := range recordedConfs {
		for _, keep := range []int{0, 1, 100, 1500} {
			w := newRecordedRun(t, uint64(seed)*2, conf)
			w.keeps, w.alone = w.releases(), true
			out := replayOf(t, w, 2000, keep)
			runs++
			if out.Recorded.Same == out.Allocs-out.Recorded.OOMs && out.OOMCount == out.Recorded.OOMs {
				exact++
				require.Equal(t, w.a.Allocated(), out.Stats.AllocatedBytes.All.Current, "%s, last %d", conf, keep)
			}
		}
	}
	require.GreaterOrEqual(t, exact, runs-2)
}

// TestVectorsReplay reads the vectors as a user would and compares the result
// of every record.
func TestVectorsReplay(t *testing.T) {
	raw, err := os.ReadFile("../testdata/vectors/reference.json")
	require.NoError(t, err)
	list, err := ReadRecordings(bytes.NewReader(raw))
	require.NoError(t, err)
	var vectors struct {
		Worked []json.RawMessage
		Random []struct{ Final map[string]int64 }
	}
	require.NoError(t, json.Unmarshal(raw, &vectors))
	require.NotEmpty(t, vectors.Random)
	for i, v := range vectors.Random {
		out, err := list[len(vectors.Worked)+i].Replay(context.Background(), Options{})
		require.NoError(t, err)
		require.Equal(t, v.Final["peak_reserved_bytes"], out.Stats.ReservedBytes.All.Peak)
		require.Equal(t, v.Final["num_ooms"], out.Stats.NumOOMs)
	}
}

// TestContradictions: entries that cannot be are passed over and counted.
func TestContradictions(t *testing.T) {
	entry := func(action memory.Action, addr, size int64) memory.TraceEntry {
		return memory.TraceEntry{Action: action, Addr: addr, Size: size}
	}
	s := &memory.Snapshot{Traces: [][]memory.TraceEntry{{
		entry(memory.ActionSegmentAlloc, 1<<30, 20<<20),
		entry(memory.ActionAlloc, 1<<30, 4<<20),
		entry(memory.ActionAlloc, 1<<30, 2<<20), // something is there
		entry(memory.ActionFreeRequested, 1<<30, 2<<20),
		entry(memory.ActionAlloc, 1<<30, 6<<20), // and is pending now
		entry(memory.ActionFreeRequested, 1<<30, 6<<20),
		entry(memory.ActionFreeRequested, 1<<30, 6<<20), // freed twice
		entry(memory.ActionSnapshot, 0, 0),
		entry(memory.ActionFreeCompleted, 1<<30, 6<<20),
		entry(memory.ActionFreeCompleted, 1<<30, 6<<20), // completed twice
		entry(memory.ActionSegmentFree, 1<<30, 20<<20),
		entry(memory.ActionSegmentFree, 1<<30, 20<<20),
	}}}
	out := replayed(t, s, Options{})
	require.Equal(t, 3, out.Unmatched)
	require.Zero(t, out.Stats.AllocatedBytes.All.Current)
	require.Zero(t, out.Stats.ReservedBytes.All.Current, "the cache was emptied")
	require.Zero(t, out.Stats.InvalidFrees)
}

// TestReplayStops with its context.
func TestReplayStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, r := range []*Recording{
		{trace: make([]memory.TraceEntry, 1)},
		{ops: make([]op, 1)},
	} {
		_, err := r.Replay(ctx, Options{})
		require.ErrorIs(t, err, context.Canceled)
	}
}

// TestReplayUnderOtherSettings starts from the live blocks, not the segments,
// and keeps what was allocated.
func TestReplayUnderOtherSettings(t *testing.T) {
	w := newRecordedRun(t, 4, "")
	for range 800 {
		w.step()
	}
	s := w.a.Snapshot()
	s.Traces[0] = s.Traces[0][len(s.Traces[0])/2:]
	conf, err := memory.ParseConf("expandable_segments:True")
	require.NoError(t, err)
	out := replayed(t, s, Options{Conf: &conf, Capacity: 1 << 40, Trace: true})
	require.Zero(t, out.OOMCount)
	require.Equal(t, w.ooms > 0, out.AvoidedOOMs > 0 || out.Recorded.OOMs == 0)
	require.Equal(t, w.a.Stats().Allocation.All.Current, out.Stats.Allocation.All.Current)
	for _, seg := range out.Final {
		require.True(t, seg.Expandable)
	}
	require.Equal(t, out.Final, out.Snapshot.Segments)
}
