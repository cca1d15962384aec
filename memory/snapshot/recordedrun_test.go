package snapshot

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/memory"
	"trainsim/sim"
)

// recordedConfs are settings that place blocks in all the ways there are.
var recordedConfs = []string{
	"",
	"expandable_segments:True",
	"max_split_size_mb:64",
	"max_split_size_mb:32,max_non_split_rounding_mb:40",
	"garbage_collection_threshold:0.6",
	"garbage_collection_threshold:0.4,max_split_size_mb:48",
	"roundup_power2_divisions:[1:4,8:2,64:8,>:1]",
	"expandable_segments:True,roundup_power2_divisions:8,max_split_size_mb:100",
}

// recordedRun is a seeded random sequence of operations on an allocator that
// records its history.
type recordedRun struct {
	a        *memory.Allocator
	r        *rand.Rand
	capacity int64
	fraction float64
	live     []memory.Ref
	streams  int
	keeps    bool // never empties the cache
	alone    bool // streams never use each other's blocks
	ooms     int
}

func newRecordedRun(t testing.TB, seed uint64, conf string) *recordedRun {
	c, err := memory.ParseConf(conf)
	require.NoError(t, err)
	r := sim.NewRand(seed, "workload "+conf)
	total := int64(256+r.IntN(1024)) << 20
	fraction := 0.5 + r.Float64()*0.6
	a := memory.New(memory.Config{Capacity: total, Total: total + int64(seed%2)<<26, Conf: c, Fraction: fraction, Trace: true, KeepPeak: true})
	return &recordedRun{a: a, r: r, capacity: total, fraction: fraction, streams: 1 + r.IntN(3)}
}

// releases reports whether an allocation can give back a part of the cache.
func (w *recordedRun) releases() bool {
	c := w.a.Conf()
	return w.fraction < 1 && c.GCThreshold > 0 || c.MaxSplitSize < math.MaxInt64
}

func (w *recordedRun) size() int64 {
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

func (w *recordedRun) stream() int { return w.r.IntN(w.streams) }

// step does one random operation.
func (w *recordedRun) step() {
	switch x := w.r.IntN(100); {
	case x < 48:
		kind := memory.Kind(w.r.IntN(memory.NumKinds))
		ref, err := w.a.Malloc(w.size(), w.stream(), kind)
		if err != nil {
			w.ooms++
			return
		}
		w.live = append(w.live, ref)
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
