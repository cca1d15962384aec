package memory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/sim"
)

// workload is a seeded random sequence of operations on an allocator.
type workload struct {
	a       *Allocator
	r       *rand.Rand
	live    []Ref
	streams int
	private bool
	keeps   bool // never empties the cache
	alone   bool // streams never use each other's blocks
	ooms    int
}

var workloadConfs = []string{
	"",
	"expandable_segments:True",
	"max_split_size_mb:64",
	"max_split_size_mb:32,max_non_split_rounding_mb:40",
	"garbage_collection_threshold:0.6",
	"garbage_collection_threshold:0.4,max_split_size_mb:48",
	"roundup_power2_divisions:[1:4,8:2,64:8,>:1]",
	"expandable_segments:True,roundup_power2_divisions:8,max_split_size_mb:100",
}

func newWorkload(t testing.TB, seed uint64, conf string, trace bool) *workload {
	c, err := ParseConf(conf)
	require.NoError(t, err)
	r := sim.NewRand(seed, "workload "+conf)
	total := int64(256+r.IntN(1024)) << 20
	a := New(Config{Capacity: total, Total: total + int64(seed%2)<<26, Conf: c, Fraction: 0.5 + r.Float64()*0.6, Trace: trace, KeepPeak: true})
	return &workload{a: a, r: r, streams: 1 + r.IntN(3)}
}

func (w *workload) size() int64 {
	switch w.r.IntN(4) {
	case 0:
		return 1 + w.r.Int64N(4096)
	case 1:
		return 1 + w.r.Int64N(2<<20)
	case 2:
		return 1 + w.r.Int64N(32<<20)
	}
	return 1 + w.r.Int64N(160<<20)
}

func (w *workload) stream() int { return w.r.IntN(w.streams) }

// step does one random operation.
func (w *workload) step() {
	switch x := w.r.IntN(100); {
	case x < 48:
		w.malloc()
	case x < 90 && len(w.live) > 0:
		i := w.r.IntN(len(w.live))
		w.a.Free(w.live[i])
		w.live[i] = w.live[len(w.live)-1]
		w.live = w.live[:len(w.live)-1]
	case x < 95 && len(w.live) > 0 && !w.alone:
		w.a.RecordStream(w.live[w.r.IntN(len(w.live))], w.stream())
	case x < 98:
		w.a.CompleteEvents(w.stream())
	case x < 99 && !w.keeps:
		w.a.EmptyCache()
	}
}

func (w *workload) malloc() {
	kind := Kind(w.r.IntN(NumKinds))
	var ref Ref
	var err error
	if w.private && w.r.IntN(4) == 0 {
		ref, err = w.a.MallocPrivate(w.size(), w.stream(), kind, 1+w.r.IntN(2))
	} else {
		ref, err = w.a.Malloc(w.size(), w.stream(), kind)
	}
	if err != nil {
		w.ooms++
		return
	}
	w.live = append(w.live, ref)
}

// TestInvariants checks the conservation laws after every operation.
func TestInvariants(t *testing.T) {
	for _, conf := range workloadConfs {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("%s/%d", conf, seed), func(t *testing.T) {
				w := newWorkload(t, seed, conf, false)
				w.private = seed%2 == 1
				for range 400 {
					w.step()
					checkInvariants(t, w.a, w.live)
				}
				checkDrained(t, w)
			})
		}
	}
}

// checkDrained frees everything: nothing may be left.
func checkDrained(t *testing.T, w *workload) {
	for _, r := range w.live {
		w.a.Free(r)
	}
	w.live = nil
	w.a.ReleasePrivate(1)
	w.a.ReleasePrivate(2)
	w.a.EmptyCache()
	checkInvariants(t, w.a, nil)
	s := w.a.Stats()
	require.Zero(t, w.a.Allocated())
	require.Zero(t, w.a.Reserved())
	require.Zero(t, s.ActiveBytes.All.Current)
	require.Zero(t, s.RequestedBytes.All.Current)
	require.Zero(t, s.Segment.All.Current)
	require.Zero(t, s.InactiveSplit.All.Current)
	require.Zero(t, s.OversizeAllocations.Current)
	require.Zero(t, s.OversizeSegments.Current)
	require.Zero(t, s.InvalidFrees)
	require.Empty(t, w.a.Segments())
}

// checkInvariants recomputes every current statistic from the listed blocks.
func checkInvariants(t *testing.T, a *Allocator, live []Ref) {
	var allocated, active, requested, reserved, split, splits, segments int64
	var kinds [NumKinds]int64
	end := int64(0)
	blocks := 0
	for _, s := range a.Segments() {
		require.GreaterOrEqual(t, s.Addr, end, "segments overlap")
		end = s.Addr
		reserved += s.Size
		if !s.Expandable {
			segments++
		}
		for i, b := range s.Blocks {
			require.Equal(t, end, b.Addr, "blocks do not fill the segment")
			require.Positive(t, b.Size)
			require.Zero(t, b.Size%minBlock)
			end += b.Size
			switch b.State {
			case Allocated:
				blocks++
				allocated += b.Size
				kinds[b.Kind] += b.Size
				active += b.Size
				requested += b.Requested
				require.LessOrEqual(t, b.Requested, b.Size)
			case PendingFree:
				active += b.Size
				requested += b.Requested
			case Inactive:
				require.False(t, i > 0 && s.Blocks[i-1].State == Inactive, "idle neighbours are not merged")
				if len(s.Blocks) > 1 && !s.Expandable {
					split += b.Size
					splits++
				}
			}
		}
	}
	st := a.Stats()
	require.Equal(t, len(live), blocks)
	require.Equal(t, []int64{allocated, active, requested, reserved, split, splits, segments}, []int64{
		a.Allocated(), st.ActiveBytes.All.Current, st.RequestedBytes.All.Current, a.Reserved(),
		st.InactiveSplitBytes.All.Current, st.InactiveSplit.All.Current, st.Segment.All.Current,
	})
	require.Equal(t, kinds, a.AllocatedByKind())
	require.LessOrEqual(t, allocated, active)
	require.LessOrEqual(t, active, reserved)
	require.LessOrEqual(t, reserved+a.external, a.capacity)
	require.Equal(t, a.PeakAllocated(), sum(a.PeakByKind()))
	checkSets(t, a)
}

// checkSets compares the free sets with the blocks and checks their order.
func checkSets(t *testing.T, a *Allocator) {
	idleBlocks, inSets := 0, 0
	for i := range a.blocks {
		if a.blocks[i].state == idle {
			idleBlocks++
		}
	}
	for s := range a.sets {
		list := a.sets[s].free.Append(nil)
		require.Len(t, list, a.sets[s].free.Len())
		inSets += len(list)
		for k, i := range list {
			b := &a.blocks[i]
			require.Equal(t, idle, b.state)
			require.Equal(t, int32(s), b.set)
			if k > 0 {
				before := &a.blocks[list[k-1]]
				require.True(t, before.size < b.size || before.size == b.size && before.addr < b.addr)
			}
		}
	}
	require.Equal(t, idleBlocks, inSets)
}

func sum(kinds [NumKinds]int64) int64 {
	var total int64
	for _, n := range kinds {
		total += n
	}
	return total
}

// TestPeakSegments finds the peak's bytes in the listing of the peak.
func TestPeakSegments(t *testing.T) {
	for _, conf := range workloadConfs {
		w := newWorkload(t, 11, conf, false)
		for range 500 {
			w.step()
		}
		var allocated int64
		for _, s := range w.a.SegmentsAtPeak() {
			for _, b := range s.Blocks {
				if b.State == Allocated {
					allocated += b.Size
				}
			}
		}
		require.Equal(t, w.a.PeakAllocated(), allocated, conf)
	}
}

// TestStreamsAreNames renames the streams monotonically: nothing changes.
func TestStreamsAreNames(t *testing.T) {
	run := func(rename func(int) int) (Stats, int) {
		w := newWorkload(t, 5, "max_split_size_mb:64", false)
		var refs []Ref
		for i := range 600 {
			ref, err := w.a.Malloc(w.size(), rename(i%3), Weights)
			if err == nil {
				refs = append(refs, ref)
			}
			if len(refs) > 12 {
				w.a.Free(refs[0])
				refs = refs[1:]
			}
		}
		return w.a.Stats(), len(w.a.Segments())
	}
	stats, segments := run(func(s int) int { return s })
	other, n := run(func(s int) int { return s*1000 - 500 })
	require.Equal(t, stats, other)
	require.Equal(t, segments, n)
}

// TestMoreMemoryNeverFailsMore: a request sequence that fits in a capacity
// fits in every larger one, and needs as much allocated memory.
func TestMoreMemoryNeverFailsMore(t *testing.T) {
	for _, conf := range []string{"", "expandable_segments:True"} {
		c, err := ParseConf(conf)
		require.NoError(t, err)
		run := func(capacity int64) (int64, bool) {
			a := New(Config{Capacity: capacity, Conf: c})
			r := sim.NewRand(3, "capacity")
			var refs []Ref
			for range 300 {
				ref, err := a.Malloc(1+r.Int64N(64<<20), 0, Weights)
				if err != nil {
					return 0, false
				}
				if refs = append(refs, ref); len(refs) > 10 {
					i := r.IntN(len(refs))
					a.Free(refs[i])
					refs = append(refs[:i], refs[i+1:]...)
				}
			}
			return a.PeakReserved(), true
		}
		peak, ok := run(64 << 30)
		require.True(t, ok)
		_, ok = run(peak)
		require.True(t, ok, "what was reserved with room to spare is enough")
	}
}
