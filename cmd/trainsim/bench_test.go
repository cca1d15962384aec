package main

import (
	"context"
	"testing"

	"trainsim/scenarios"
	"trainsim/sim/step"
)

// Benchmark measures a run of 64 ranks: the simulation alone, and the whole
// command with and without its figures.
func Benchmark(b *testing.B) {
	const name = "70b-tp4-pp2"
	b.Run("simulate/"+name, func(b *testing.B) {
		cfg, err := scenarios.Load(name)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		var events uint64
		for b.Loop() {
			res, err := step.Run(context.Background(), cfg, step.Options{})
			if err != nil {
				b.Fatal(err)
			}
			events += res.Events
		}
		b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	})
	for what, flags := range map[string][]string{"command": nil, "no-plots": {"--no-plots"}} {
		b.Run(what+"/"+name, func(b *testing.B) {
			b.Chdir(b.TempDir())
			b.ReportAllocs()
			for b.Loop() {
				if r := trainsim(append([]string{"run", name, "-q"}, flags...)...); r.code != exitOK {
					b.Fatal(r.stderr)
				}
			}
		})
	}
}
