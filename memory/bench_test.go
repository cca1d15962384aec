package memory

import (
	"fmt"
	"testing"

	"trainsim/sim"
)

// churn is a steady mix of allocations and frees: live blocks are replaced in
// random order, with sizes from a few hundred bytes to tens of MiB.
func churn(b *testing.B, conf string, live int) {
	c, err := ParseConf(conf)
	if err != nil {
		b.Fatal(err)
	}
	a := New(Config{Capacity: 1 << 46, Conf: c})
	r := sim.NewRand(1, "churn")
	const n = 1 << 16
	sizes, slots := make([]int64, n), make([]int, n)
	for i := range sizes {
		sizes[i] = int64(1) << (8 + r.IntN(18))
		sizes[i] += r.Int64N(sizes[i])
		slots[i] = r.IntN(live)
	}
	refs := make([]Ref, live)
	step := func(i int) {
		i &= n - 1
		a.Free(refs[slots[i]])
		refs[slots[i]], err = a.Malloc(sizes[i], 0, Activations)
		if err != nil {
			b.Fatal(err)
		}
	}
	for i := range 4 * n {
		step(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		step(i)
	}
	b.StopTimer()
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

// BenchmarkChurn counts a free and an allocation as one iteration.
func BenchmarkChurn(b *testing.B) {
	for _, conf := range []string{"", "expandable_segments:True", "max_split_size_mb:64"} {
		for _, live := range []int{64, 1024, 16384} {
			b.Run(fmt.Sprintf("conf=%s/live=%d", conf, live), func(b *testing.B) { churn(b, conf, live) })
		}
	}
}

// BenchmarkTrainingStep allocates in stack order, as forward and backward do.
func BenchmarkTrainingStep(b *testing.B) {
	a := New(Config{Capacity: 80 << 30})
	var refs [512]Ref
	b.ReportAllocs()
	for range b.N {
		for i := range refs {
			refs[i], _ = a.Malloc(int64(1+i%7)*3<<20, 0, Activations)
		}
		for i := len(refs) - 1; i >= 0; i-- {
			a.Free(refs[i])
		}
	}
	b.ReportMetric(float64(2*len(refs)*b.N)/b.Elapsed().Seconds(), "ops/s")
}
