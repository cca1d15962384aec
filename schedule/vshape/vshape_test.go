package vshape_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"trainsim/schedule"
	"trainsim/schedule/kinds"
)

// built returns a schedule and its times with equal costs.
func built(t *testing.T, kind string, o schedule.Options) *schedule.Result {
	t.Helper()
	p, err := kinds.Build(t.Context(), kind, o)
	require.NoError(t, err)
	r, err := p.Execute(context.Background(), schedule.UnitCosts())
	require.NoError(t, err)
	return r
}

// TestControllableMemory: bubbles and peaks of V-Half and V-Min with equal
// costs, from m = 2p on.
func TestControllableMemory(t *testing.T) {
	for p := 2; p <= 14; p++ {
		for _, m := range []int{2 * p, 3*p + 1} {
			half := built(t, "v-half", schedule.Options{Ranks: p, Microbatches: m})
			require.Equal(t, 2*((p+2)/2), slices.Max(half.Peak), "v-half p%d m%d", p, m)
			if p%2 == 1 {
				require.Equal(t, float64(3*p-4), half.Bubble(), "v-half p%d m%d", p, m)
			} else if p >= 4 {
				require.Equal(t, float64(3*p-7), half.Bubble(), "v-half p%d m%d", p, m)
			}
			low := built(t, "v-min", schedule.Options{Ranks: p, Microbatches: m})
			require.Equal(t, 2*((p+4)/3), slices.Max(low.Peak), "v-min p%d m%d", p, m)
			want := float64(4*p - 5)
			if p%3 == 0 {
				want = float64(4*p - 7)
			}
			require.Equal(t, want, low.Bubble(), "v-min p%d m%d", p, m)
		}
	}
}

// TestZBVWithFewMicrobatches: below 2p-1 micro-batches the V cannot fill its
// bubble.
func TestZBVWithFewMicrobatches(t *testing.T) {
	for p := 2; p <= 10; p++ {
		for m := 1; m < 2*p-1; m++ {
			r := built(t, "zb-v", schedule.Options{Ranks: p, Microbatches: m})
			require.Equal(t, float64(2*(2*p-1-m)), r.SpanBubble(), "p%d m%d", p, m)
			require.Equal(t, float64(max(p-1, 2*(2*p-1-m))), r.Bubble(), "p%d m%d", p, m)
		}
	}
}

// Example shows what the V is for: every rank keeps as many activations as
// every other, and the pattern decides how many.
func Example() {
	for _, kind := range []string{"1f1b-v", "v-half", "v-min"} {
		p, err := kinds.Build(context.Background(), kind, schedule.Options{Ranks: 4, Microbatches: 12})
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := p.Execute(context.Background(), schedule.UnitCosts())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: at most %v live chunk activations, %.0f %% bubble\n", kind, r.Peak, 100*r.BubbleOverTotal())
	}
	// Output:
	// 1f1b-v: at most [6 6 6 6] live chunk activations, 17 % bubble
	// v-half: at most [6 6 6 6] live chunk activations, 6 % bubble
	// v-min: at most [4 4 4 4] live chunk activations, 13 % bubble
}
