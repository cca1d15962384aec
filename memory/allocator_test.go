package memory

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

func malloc(t *testing.T, a *Allocator, size int64, kind Kind) Ref {
	t.Helper()
	r, err := a.Malloc(size, 0, kind)
	require.NoError(t, err)
	return r
}

func TestNothingIsAllocatedForNothing(t *testing.T) {
	a := New(Config{Capacity: 1 << 30})
	for _, size := range []int64{0, -1, math.MinInt64} {
		r, err := a.Malloc(size, 0, Weights)
		require.NoError(t, err)
		require.Zero(t, r)
		r, err = a.MallocPrivate(size, 0, Weights, 1)
		require.NoError(t, err)
		require.Zero(t, r)
		a.Free(r)
		a.RecordStream(r, 1)
	}
	require.Zero(t, a.Stats())
	require.False(t, a.DriverWork().Any())
}

func TestTooLarge(t *testing.T) {
	a := New(Config{Capacity: 1 << 30})
	_, err := a.Malloc(1<<60, 0, Weights)
	require.EqualError(t, err, "CUDA out of memory. Tried to allocate more than 1EB memory.")
	_, err = a.MallocPrivate(math.MaxInt64, 0, Weights, 1)
	require.ErrorContains(t, err, "more than 1EB")
	require.Zero(t, a.Stats(), "the allocator was not touched")
}

// TestInvalidFrees: a Ref that is not live is counted, not obeyed.
func TestInvalidFrees(t *testing.T) {
	a := New(Config{Capacity: 1 << 30})
	r := malloc(t, a, 1000, Weights)
	a.Free(r)
	for _, bad := range []Ref{r, -1, 1 << 30} {
		a.Free(bad)
		a.RecordStream(bad, 3)
	}
	require.EqualValues(t, 3, a.Stats().InvalidFrees)
	checkInvariants(t, a, nil)
}

// TestKinds: the split by kind adds up, and the peak's is that of the peak.
func TestKinds(t *testing.T) {
	a := New(Config{Capacity: 1 << 30})
	w := malloc(t, a, 4<<20, Weights)
	g := malloc(t, a, 2<<20, Gradients)
	a.Free(w)
	malloc(t, a, 1<<20, Optimizer)
	require.Equal(t, [NumKinds]int64{Weights: 4 << 20, Gradients: 2 << 20}, a.PeakByKind())
	require.Equal(t, [NumKinds]int64{Gradients: 2 << 20, Optimizer: 1 << 20}, a.AllocatedByKind())
	a.ResetPeaks()
	require.Equal(t, a.AllocatedByKind(), a.PeakByKind())
	require.Equal(t, a.Allocated(), a.PeakAllocated())
	require.Equal(t, a.Reserved(), a.PeakReserved())
	a.Free(g)
	require.Equal(t, "comm_buffers", CommBuffers.String())
	require.Equal(t, "unknown", Unknown.String())
}

// TestExternal: what others take is missing for the allocator.
func TestExternal(t *testing.T) {
	a := New(Config{Capacity: 100 << 20})
	require.True(t, a.TakeExternal(70<<20))
	require.False(t, a.TakeExternal(40<<20), "only 30 MiB are left")
	require.False(t, a.TakeExternal(-80<<20), "more than was taken")
	require.EqualValues(t, 30<<20, a.driverFree())
	_, err := a.Malloc(40<<20, 0, Weights)
	var oom *OutOfMemory
	require.ErrorAs(t, err, &oom)
	require.EqualValues(t, 70<<20, oom.External)
	require.EqualValues(t, 30<<20, oom.Free)
	require.True(t, a.TakeExternal(-20<<20))
	malloc(t, a, 40<<20, Weights)
	require.EqualValues(t, 50<<20, a.external)
	require.EqualValues(t, 10<<20, a.driverFree())
}

// TestDriverWork charges a retry with all that it made the driver do.
func TestDriverWork(t *testing.T) {
	a := New(Config{Capacity: 100 << 20})
	r := malloc(t, a, 60<<20, Weights)
	require.Equal(t, DriverWork{Mallocs: 1}, a.DriverWork())
	a.Free(r)
	malloc(t, a, 60<<20, Weights)
	require.False(t, a.DriverWork().Any(), "served from the cache")
	malloc(t, a, 30<<20, Weights)
	a.DriverWork()
	a.Free(r) // its block is the one in use
	malloc(t, a, 65<<20, Weights)
	w := a.DriverWork()
	require.Equal(t, DriverWork{Mallocs: 2, Frees: 1, Syncs: 1}, w)
	require.True(t, w.Waits())
	costs := DriverCosts{Malloc: 100 * sim.Microsecond, Free: 200 * sim.Microsecond, Map: 30 * sim.Microsecond, Unmap: 40 * sim.Microsecond}
	require.Equal(t, 400*sim.Microsecond, w.Time(costs))
}

// TestExpandableWork counts granules: 25 MiB need two of 20 MiB.
func TestExpandableWork(t *testing.T) {
	conf, err := ParseConf("expandable_segments:True")
	require.NoError(t, err)
	a := New(Config{Capacity: 1 << 30, Conf: conf})
	a.Free(malloc(t, a, 25<<20, Weights))
	w := a.DriverWork()
	require.Equal(t, DriverWork{Maps: 2}, w)
	require.False(t, w.Waits())
	a.EmptyCache()
	w = a.DriverWork()
	require.Equal(t, DriverWork{Unmaps: 2, UnmapCalls: 1, Syncs: 1}, w)
	require.Equal(t, 2*sim.Microsecond, w.Time(DriverCosts{Unmap: sim.Microsecond}))
}

// TestEvents: a block comes back at the first allocation after all of its
// streams have passed their events.
func TestEvents(t *testing.T) {
	a := New(Config{Capacity: 1 << 30})
	r := malloc(t, a, 4<<20, Activations)
	a.RecordStream(r, 1)
	a.RecordStream(r, 2)
	a.RecordStream(r, 1)
	a.Free(r)
	require.Equal(t, 2, a.waiting, "one event for each stream")
	next := func() int64 { return a.Stats().Active.All.Current }
	malloc(t, a, 512, Activations)
	require.EqualValues(t, 2, next())
	a.CompleteEvents(1)
	malloc(t, a, 512, Activations)
	require.EqualValues(t, 3, next(), "stream 2 is not done")
	a.CompleteEvents(2)
	malloc(t, a, 512, Activations)
	require.EqualValues(t, 3, next(), "the block is back")
}

// TestLongEventQueues keeps the queue's memory bounded, also when some block
// always waits.
func TestLongEventQueues(t *testing.T) {
	a := New(Config{Capacity: 1 << 30})
	for i := range 20000 {
		r := malloc(t, a, 512, Activations)
		a.RecordStream(r, 1)
		if i%100 == 0 {
			a.CompleteEvents(1)
		}
		a.Free(r)
	}
	require.NotEmpty(t, a.queues[0].blocks)
	require.Less(t, cap(a.queues[0].blocks), 8192)
	require.Len(t, a.queues, 1)
	a.EmptyCache()
	require.Zero(t, a.Reserved())
}

// TestRequestedFrees: a block that was requested to be freed is out of reach
// until that is completed, once, or the cache is flushed.
func TestRequestedFrees(t *testing.T) {
	a := New(Config{Capacity: 1 << 30})
	r := malloc(t, a, 4<<20, Activations)
	ticket := a.RequestFree(r)
	require.EqualValues(t, 0, a.Allocated())
	require.EqualValues(t, 4<<20, a.Active())
	a.CompleteFree(r, ticket+1)
	require.EqualValues(t, 4<<20, a.Active(), "another request's ticket")
	a.CompleteFree(r, ticket)
	require.Zero(t, a.Active())
	a.RequestFree(malloc(t, a, 4<<20, Activations))
	a.EmptyCache()
	require.Zero(t, a.Reserved())
	checkInvariants(t, a, nil)
}

func TestFraction(t *testing.T) {
	a := New(Config{Capacity: 90 << 20, Total: 100 << 20, Fraction: 0.5})
	_, err := a.Malloc(60<<20, 0, Weights)
	require.ErrorContains(t, err, "50.00 MiB allowed; ")
	for _, x := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, a.SetFraction(x), "write a number from 0.0 to 1.0")
	}
	require.NoError(t, a.SetFraction(1))
	malloc(t, a, 60<<20, Weights)
	require.NoError(t, a.SetFraction(0))
	_, err = a.Malloc(1, 0, Weights)
	require.ErrorContains(t, err, "0 bytes allowed; ")
}

// TestPrivatePoolsInTheMessage: idle memory of a graph's pool is out of reach.
func TestPrivatePoolsInTheMessage(t *testing.T) {
	a := New(Config{Capacity: 100 << 20})
	r, err := a.MallocPrivate(50<<20, 0, Activations, 7)
	require.NoError(t, err)
	a.Free(r)
	_, err = a.Malloc(60<<20, 0, Activations)
	require.ErrorContains(t, err, "Of the allocated memory 50.00 MiB is allocated by PyTorch, "+
		"with 50.00 MiB allocated in private pools (e.g., CUDA Graphs), and 0 bytes is reserved by PyTorch but unallocated.")
	a.ReleasePrivate(7)
	malloc(t, a, 60<<20, Activations)
}

func TestFormatSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 bytes", 1024: "1024 bytes", 1025: "1.00 KiB", 1 << 20: "1024.00 KiB", 3 << 19: "1.50 MiB",
		1 << 30: "1024.00 MiB", 3 << 29: "1.50 GiB", 800000000 << 30: "800000000.00 GiB",
	} {
		require.Equal(t, want, FormatSize(bytes))
	}
}

func TestNames(t *testing.T) {
	for _, x := range []Action{ActionAlloc, ActionSegmentUnmap, ActionOOM} {
		var again Action
		require.NoError(t, again.UnmarshalText([]byte(x.String())))
		require.Equal(t, x, again)
	}
	require.True(t, strings.HasPrefix(Action(99).String(), "Action("))
	require.Equal(t, "active_pending_free", PendingFree.String())
	require.Equal(t, "unknown", BlockState(9).String())
}

// TestWindowsOfLargeDevices: windows of a device beyond a terabyte do not meet.
func TestWindowsOfLargeDevices(t *testing.T) {
	conf, err := ParseConf("expandable_segments:True")
	require.NoError(t, err)
	a := New(Config{Capacity: 2 << 40, Conf: conf})
	var refs []Ref
	for stream := range 4 {
		r, err := a.Malloc(1<<40/4, stream, Weights)
		require.NoError(t, err)
		refs = append(refs, r)
	}
	checkInvariants(t, a, refs)
}
