package kinds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
)

// cost is what the actions of a stage take.
func cost(f, i, w float64) schedule.StageCost {
	return schedule.StageCost{Forward: f, BackwardInput: i, BackwardWeight: w}
}

// randomCosts returns small whole costs, so that sums are exact.
func randomCosts(rng *rand.Rand) schedule.StageCost {
	return schedule.StageCost{Forward: float64(1 + rng.IntN(20)), BackwardInput: float64(1 + rng.IntN(20)), BackwardWeight: float64(1 + rng.IntN(20))}
}

func execute(t *testing.T, kind string, o schedule.Options, c schedule.Costs) (*schedule.Program, *schedule.Result) {
	t.Helper()
	p, err := Build(t.Context(), kind, o)
	require.NoError(t, err)
	r, err := p.Execute(context.Background(), c)
	require.NoError(t, err)
	return p, r
}

// closedForm is what a paper states about a schedule of equal stages without
// latency. f, i and w are the costs of one chunk.
type closedForm struct {
	kind   string
	chunks []int
	valid  func(p, m, v int) bool
	bubble func(p, m, v, f, i, w float64) float64
	span   func(p, m, v, f, i, w float64) float64 // span bubble; nil: as bubble
	peak   func(p, m, v, r int) int
	sends  func(p, m, v int) int // cross-rank messages of one direction, all ranks
}

func always(_, _, _ int) bool { return true }

func classic(p, _, _, f, i, w float64) float64 { return (p - 1) * (f + i + w) }

var closedForms = []closedForm{
	{"gpipe", []int{1}, always, classic, nil, func(_, m, _, _ int) int { return m }, func(p, m, _ int) int { return m * (p - 1) }},
	{"gpipe-lifo", []int{1}, always, classic, nil, func(_, m, _, _ int) int { return m }, func(p, m, _ int) int { return m * (p - 1) }},
	{"1f1b", []int{1}, always, classic, nil, func(p, m, _, r int) int { return min(m, p-r) }, func(p, m, _ int) int { return m * (p - 1) }},
	{"eager-1f1b", []int{1}, always, classic, nil, func(p, m, _, r int) int { return min(m, 2*(p-r)-1) }, func(p, m, _ int) int { return m * (p - 1) }},
	{"interleaved", []int{2, 3, 4}, func(p, m, _ int) bool { return m >= p && torchGroup(p, m) > 0 }, classic, nil,
		func(p, m, v, r int) int { return min(m*v, 2*(p-1-r)+(v-1)*torchGroup(p, m)+1) }, func(p, m, v int) int { return m * (p*v - 1) }},
	{"interleaved", []int{2, 3}, func(p, m, _ int) bool { return m < p },
		func(p, m, v, f, i, w float64) float64 { return (p - 1 + (v-1)*(p-m)) * (f + i + w) }, nil, nil, nil},
	{"looped-bfs", []int{1, 2, 3}, always, func(p, m, v, f, i, w float64) float64 {
		return (p - 1 + (v-1)*max(0, p-m)) * (f + i + w)
	}, nil, func(_, m, v, _ int) int { return m * v }, func(p, m, v int) int { return m * (p*v - 1) }},
	{"zb-h1", []int{1}, func(p, m, _ int) bool { return m >= p },
		func(p, _, _, f, i, w float64) float64 { return (p - 1) * max(f, i, f+i-w) },
		func(p, _, _, f, i, w float64) float64 { return (p - 1) * max(i, f+i-w) },
		func(p, m, _, _ int) int { return min(m, p) }, func(p, m, _ int) int { return m * (p - 1) }},
	{"zb-h2", []int{1}, func(p, m, _ int) bool { return m >= 2*p-1 },
		func(p, _, _, f, i, w float64) float64 { return (p - 1) * max(f, i-f, f+i-2*w) },
		func(p, _, _, f, i, w float64) float64 { return (p - 1) * max(0, i-f, f+i-2*w) },
		func(p, m, _, _ int) int { return min(m, 2*p-1) }, func(p, m, _ int) int { return m * (p - 1) }},
	{"interleaved-zb", []int{2, 3}, func(p, m, _ int) bool { return m >= p && torchGroup(p, m) > 0 },
		func(p, _, _, f, i, w float64) float64 { return (p - 1) * max(f, i, f+i-w) },
		func(p, _, _, f, i, w float64) float64 { return (p - 1) * max(i, f+i-w) }, nil, func(p, m, v int) int { return m * (p*v - 1) }},
	{"zb-v", []int{2}, func(p, m, _ int) bool { return m >= 2*p-1 }, zbvBubble, zbvSpan,
		func(p, _, _, _ int) int { return 2 * p }, func(p, m, _ int) int { return 2 * m * (p - 1) }},
}

func zbvBubble(p, _, _, f, i, w float64) float64 {
	return max((2*p-3)*f-(p-2)*i, (p-1)*i, i+(p-2)*w, 2*(p-1)*(i-w), 2*(p-1)*f-(p-1)*i-w,
		f+(p-2)*w, 2*(p-1)*f-(2*p-1)*w, (2*p-3)*f+i-2*(p-1)*w)
}

func zbvSpan(p, _, _, f, i, w float64) float64 {
	return max(0, (p-1)*(i-f), (p-2)*(f-i), (p-2)*(w-f), (p-1)*(2*f-i-w), 2*(p-1)*(i-w),
		(p-2)*w+i-(p-1)*f, (2*p-3)*f+i-2*(p-1)*w, 2*(p-1)*f-(2*p-1)*w)
}

func TestClosedForms(t *testing.T) {
	for n, c := range closedForms {
		t.Run(fmt.Sprintf("%s-%d", c.kind, n), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			for range 150 {
				p, m, v := 2+rng.IntN(9), 1+rng.IntN(24), c.chunks[rng.IntN(len(c.chunks))]
				if c.valid(p, m, v) {
					c.check(t, p, m, v, randomCosts(rng))
				}
			}
		})
	}
}

func (c closedForm) check(t *testing.T, p, m, v int, cost schedule.StageCost) {
	t.Helper()
	at := fmt.Sprintf("p%d m%d v%d %v", p, m, v, cost)
	_, r := execute(t, c.kind, schedule.Options{Ranks: p, Microbatches: m, VirtualStages: v}, schedule.Costs{StageCost: cost})
	args := [3]float64{float64(p), float64(m), float64(v)}
	f, i, w := cost.Forward, cost.BackwardInput, cost.BackwardWeight
	require.Equal(t, c.bubble(args[0], args[1], args[2], f, i, w), r.Bubble(), at)
	if c.span != nil {
		require.Equal(t, c.span(args[0], args[1], args[2], f, i, w), r.SpanBubble(), at)
	}
	sends := 0
	for rank := range p {
		sends += r.Messages[rank][0]
		if c.peak != nil {
			require.Equal(t, c.peak(p, m, v, rank), r.Peak[rank], "%s rank %d", at, rank)
		}
	}
	if c.sends != nil {
		require.Equal(t, c.sends(p, m, v), sends, at)
	}
}

// TestInterleavedGroupSizes: every group size that Megatron accepts has the
// same bubble; the peak grows with it.
func TestInterleavedGroupSizes(t *testing.T) {
	for p := 2; p <= 5; p++ {
		for m := p; m <= 14; m++ {
			for n := p; n <= m; n++ {
				if !megatronGroup(p, m, n) {
					continue
				}
				_, r := execute(t, "interleaved", schedule.Options{Ranks: p, Microbatches: m, VirtualStages: 3, GroupSize: n, System: schedule.Megatron}, schedule.UnitCosts())
				require.Equal(t, float64(3*(p-1)), r.Bubble(), "p%d m%d N%d", p, m, n)
				require.Equal(t, min(3*m, 2*(p-1)+2*n+1), r.Peak[0])
			}
		}
	}
}

func maxOf(list []int) int {
	most := 0
	for _, x := range list {
		most = max(most, x)
	}
	return most
}

// TestDualPipeBubble: the published bubble is makespan less busy time of the
// least busy rank, where f = i >= w and max(f, B) <= F&B <= f + B.
func TestDualPipeBubble(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		p, f := 2*(1+rng.IntN(4)), float64(2+rng.IntN(12))
		w := float64(1 + rng.IntN(int(f)))
		b := f + w
		pair := b + float64(rng.IntN(int(f)+1))
		m := 2*p + 2*rng.IntN(6)
		cost := schedule.Costs{StageCost: schedule.StageCost{Forward: f, BackwardInput: f, BackwardWeight: w}, Pair: pair}
		_, r := execute(t, "dualpipe", schedule.Options{Ranks: p, Microbatches: m}, cost)
		require.Equal(t, float64(p/2-1)*(pair+b-3*w), maxFloat(r.Idle), "dualpipe p%d m%d %+v", p, m, cost)
		_, r = execute(t, "dualpipev", schedule.Options{Ranks: p / 2, Microbatches: m / 2}, cost)
		require.Equal(t, float64(p/2-1)*(pair+b-3*w), maxFloat(r.Idle), "dualpipev p%d m%d %+v", p/2, m/2, cost)
		require.Equal(t, p+1, maxOf(r.Peak))
	}
}

func maxFloat(list []float64) float64 {
	most := 0.0
	for _, x := range list {
		most = max(most, x)
	}
	return most
}

// TestDualPipeIsTwiceDualPipeV: the first half of DualPipe's ranks run
// DualPipeV's lists of half the ranks.
func TestDualPipeIsTwiceDualPipeV(t *testing.T) {
	for p := 2; p <= 10; p += 2 {
		whole, err := Build(t.Context(), "dualpipe", schedule.Options{Ranks: p, Microbatches: 2*p + 4})
		require.NoError(t, err)
		half, err := Build(t.Context(), "dualpipev", schedule.Options{Ranks: p / 2, Microbatches: p + 2})
		require.NoError(t, err)
		require.Equal(t, half.Lists, whole.Lists[:p/2])
	}
}

// TestChimeraBubble: with B >= f each further unit of p micro-batches adds
// (p-2)(B-f).
func TestChimeraBubble(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 60 {
		p, units := 2*(1+rng.IntN(4)), 1+rng.IntN(4)
		c := randomCosts(rng)
		f, b := c.Forward, c.BackwardInput+c.BackwardWeight
		if b < f {
			continue
		}
		_, r := execute(t, "chimera", schedule.Options{Ranks: p, Microbatches: p * units}, schedule.Costs{StageCost: c})
		require.Equal(t, float64(p-2)*(b+float64(units-1)*(b-f)), r.Bubble(), "p%d units %d %v", p, units, c)
		for rank := range p {
			require.LessOrEqual(t, r.Peak[rank], p/2+1+min(rank, p-1-rank))
		}
	}
}
