package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
)

// gaps returns 4096 times between an event and its successor: exponential, 8
// tied values, or a mix of 90 % short kernels and 10 % long ones.
func gaps(dist string) []Time {
	r := NewRand(1, "gaps/"+dist)
	out := make([]Time, 4096)
	for i := range out {
		switch dist {
		case "exp":
			out[i] = Time(math.Ceil(r.ExpFloat64() * float64(Microsecond)))
		case "tie":
			out[i] = Time(1+r.IntN(8)) * Microsecond
		case "bimodal":
			out[i] = 20*Nanosecond + Time(r.IntN(1000))
			if r.IntN(10) == 0 {
				out[i] = Millisecond + Time(r.IntN(1000))
			}
		}
	}
	return out
}

// holder is the hold model: every event schedules its successor, so that the
// number of pending events never changes.
type holder struct {
	id   HandlerID
	gaps []Time
	next int
	zero int // of 8 successors, how many come at the same instant
}

func (h *holder) Handle(k *Engine, kind uint16, arg uint32) error {
	h.next++
	if h.next&7 < h.zero {
		k.At(k.Now(), h.id, kind, arg)
		return nil
	}
	k.After(h.gaps[h.next&4095], h.id, kind, arg)
	return nil
}

func newHolder(dist string, n, zero int) *Engine {
	k := new(Engine)
	h := &holder{gaps: gaps(dist), zero: zero}
	h.id = k.Register(h)
	k.Reserve(n + 1)
	for i := range n {
		k.After(h.gaps[i&4095]+Time(i%977), h.id, 0, uint32(i))
	}
	return k
}

// advance handles exactly n more events.
func advance(k *Engine, n uint64) error {
	k.SetMaxEvents(k.Processed() + n)
	if err := k.Run(context.Background()); !errors.Is(err, ErrEventLimit) {
		return fmt.Errorf("run ended early: %w", err)
	}
	return nil
}

func Benchmark(b *testing.B) {
	for _, dist := range []string{"exp", "tie", "bimodal"} {
		for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
			b.Run(fmt.Sprintf("engine/dist=%s/n=%d", dist, n), func(b *testing.B) { hold(b, newHolder(dist, n, 0), n) })
		}
	}
	for _, zero := range []int{4, 7} {
		b.Run(fmt.Sprintf("engine/dist=exp/zero=%d_8/n=1000", zero), func(b *testing.B) { hold(b, newHolder("exp", 1000, zero), 1000) })
	}
	b.Run("transfer", func(b *testing.B) {
		rates := []float64{450e9, 450e9 / 7, 25e9, 3.35e12}
		var sum Time
		for i := range b.N {
			sum += TransferTime(int64(i)<<12, rates[i&3])
		}
		sink = sum
	})
}

var sink Time

func hold(b *testing.B, k *Engine, pending int) {
	if err := advance(k, uint64(2*pending)); err != nil { // forget the starting order
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := advance(k, uint64(b.N)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
