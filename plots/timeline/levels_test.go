package timeline

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/trace"
)

// randomCounters records n counters that change at random instants.
func randomCounters(seed uint64, n, changes int, end sim.Time) (*trace.Recording, []int) {
	rnd := sim.NewRand(seed, "counters")
	r := &trace.Recording{}
	slot := make([]int, n)
	for i := range n {
		slot[i] = i
		r.AddCounter(trace.Counter{Kind: trace.LinkRate, Name: "link", Rank: -1})
	}
	times := make([]sim.Time, changes)
	for i := range times {
		times[i] = sim.Time(rnd.Int64N(int64(end)))
	}
	slices.Sort(times)
	for _, t := range times {
		r.Set(t, int32(rnd.IntN(n)), rnd.Int64N(1000))
	}
	return r, slot
}

// The reduced peak is the peak of the sum, and each column's state occurred.
func TestPeaksLoseNoPeak(t *testing.T) {
	const end = 1_000_000
	for seed := range uint64(20) {
		r, slot := randomCounters(seed, 3, 5000, end)
		now := make([]float64, 3)
		want, at := 0.0, sim.Time(0)
		for _, s := range r.Samples() {
			if s.At > at {
				want = max(want, now[0]+now[1]+now[2])
			}
			now[s.Counter], at = float64(s.Value), s.At
		}
		want = max(want, now[0]+now[1]+now[2])
		l := Peaks(r, slot, 3, 3, end)
		got := 0.0
		for c := range Columns {
			got = max(got, l.Value[0][c]+l.Value[1][c]+l.Value[2][c])
		}
		assert.Equal(t, want, got)
	}
}

// The mean over the columns is the mean over time.
func TestMeansConserve(t *testing.T) {
	for seed := range uint64(20) {
		end := sim.Time(1_000_003 * (seed + 1))
		r, slot := randomCounters(seed, 2, 1+int(seed)*100, end)
		area := make([]float64, 2)
		now, from := make([]float64, 2), make([]float64, 2)
		for _, s := range r.Samples() {
			area[s.Counter] += now[s.Counter] * (float64(s.At) - from[s.Counter])
			now[s.Counter], from[s.Counter] = float64(s.Value), float64(s.At)
		}
		l := Means(r, slot, 2, end)
		for i := range area {
			area[i] += now[i] * (float64(end) - from[i])
			sum := 0.0
			for _, v := range l.Value[i] {
				assert.LessOrEqual(t, v, 1000.0*(1+1e-9), "no column is over the largest rate")
				sum += v
			}
			assert.InEpsilon(t, area[i]+1, sum*float64(end)/Columns+1, 1e-9)
		}
	}
}

// Samples out of order, as two ranks' clocks may give them, are sorted.
func TestSamplesAreSorted(t *testing.T) {
	r := &trace.Recording{}
	c := r.AddCounter(trace.Counter{Kind: trace.LinkRate, Rank: -1})
	r.Set(10, c, 5)
	r.Set(5, c, 3)
	var got []float64
	samplesOf(r, []int{0}, func(_ sim.Time, _ int, change float64) { got = append(got, change) })
	assert.Equal(t, []float64{3, 2}, got)
}

func TestFullestRank(t *testing.T) {
	r := &trace.Recording{}
	for rank := range 3 {
		for _, kind := range []string{"weights", "activations"} {
			r.AddCounter(trace.Counter{Kind: trace.MemoryByKind, Name: kind, Rank: rank, Stage: rank})
		}
	}
	_, ok := FullestRank(r)
	assert.False(t, ok)
	r.Set(0, 0, 10)
	r.Set(0, 2, 8)
	r.Set(1, 3, 4) // rank 1: 12 in all
	r.Set(2, 3, 0)
	r.Set(3, 4, 12) // rank 2 reaches the same later
	rank, ok := FullestRank(r)
	require.True(t, ok)
	assert.Equal(t, 1, rank)
}
